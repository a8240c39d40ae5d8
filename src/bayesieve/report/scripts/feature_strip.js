// @ts-check

import { decodedOnce, formatNumber, shownName } from "./numbers.js";
import { drawDot, drawLine, drawMessage, fitText, ringAt, textWidth, writeText } from "./plot.js";
import { linearScale, percentText } from "./scales.js";

/** @import { Dot, FeatureChart, FeatureRow, Payload, TextStyle } from "./types.js" */

/** Column that the screen itself made, by its key: annotation of the same name is another thing. */
function ownColumn(/** @type {Payload} */ payload, key) {
  return (payload.columns || []).find((each) => each.key === key && !each.annotation);
}

/** Text of a text column of the payload for a feature; empty if there is no such column or entry. */
function columnText(/** @type {Payload} */ payload, key, position) {
  const column = ownColumn(payload, key);
  if (!column || column.kind !== "text") return "";
  if (column.values) return String(column.values[position] ?? "");
  return String((column.levels || [])[decodedOnce(column.codes)[position]] ?? "");
}

/** A sample in words, by its name or, where samples have none, by its number. */
export function sampleWords(/** @type {Payload} */ payload, name) {
  return `sample ${shownName(name)}${namesSamples(payload) ? "" : ", counting from 0,"}`;
}

/** Whether samples have names: numbers that count up from 0 are none. */
export function namesSamples(/** @type {Payload} */ { values }) {
  return !values || !values.samples || values.samples.some((sample, s) => String(sample) !== String(s));
}

/** Number of the sample whose removal weakens a feature most; -1 if not known. */
export function culpritOf(/** @type {Payload} */ payload, position) {
  const name = columnText(payload, "culprit", position);
  if (!name || !payload.values || !payload.values.samples) return -1;
  return payload.values.samples.findIndex((sample) => String(sample) === name);
}

/** Values as dots that keep apart, and below them the mean with one standard deviation to either side. */
export function paintStrip(
  /** @type {FeatureChart} */ chart, /** @type {FeatureRow} */ row, { scale, strip, colour, culprit },
) {
  const { plot } = chart;
  const { palette, ctx } = plot;
  const foot = row.values ? strip.bottom - 5 : (strip.top + strip.bottom) / 2;
  if (row.values) {
    const room = { top: strip.top, bottom: foot - 5 };
    const radius = row.values.length > 400 ? 1.6 : row.values.length > 120 ? 2.1 : 2.7;
    const heights = swarm(row.values.map(({ value }) => scale(value)), radius, room);
    ctx.fillStyle = colour;
    ctx.globalAlpha = 0.75;
    row.values.forEach(({ value, sample }, k) => {
      const x = scale(value);
      chart.dots.push({ x, y: heights[k], value, sample, name: row.name });
      ctx.beginPath();
      ctx.arc(x, heights[k], radius, 0, 2 * Math.PI);
      ctx.fill();
    });
    ctx.globalAlpha = 1;
    writeTies(chart, row, { scale, room, radius, colour });
    markCulprit(chart, row, culprit);
  }
  if (!Number.isFinite(row.mean)) return;
  const x = scale(row.mean);
  if (Number.isFinite(row.sd)) {
    const low = Math.max(row.mean - row.sd, scale.domain[0]);
    drawLine(plot, scale(low), foot, scale(row.mean + row.sd), foot, { colour, width: 2 });
  }
  drawDot(plot, x, foot, colour, 4);
  drawLine(plot, x, foot - 4, x, foot + 4, { colour: palette.ink, width: 1.25 });
}

/** How many values lie in a place where dots cover each other, beside it: a floor of 25 values is not four dots. */
function writeTies(/** @type {FeatureChart} */ { plot }, /** @type {FeatureRow} */ row, { scale, room, radius, colour }) {
  const places = (row.values || []).map(({ value }) => scale(value));
  const lanes = laneCount(radius, room);
  for (let first = 0, last = 1; first < places.length; first = last, last += 1) {
    while (last < places.length && places[last] - places[last - 1] < 1) last += 1;
    const columns = (places[last - 1] - places[first]) / (2 * radius) + 1; // dots that stand side by side
    if (last - first <= lanes * columns || columns > 8) continue;
    const text = `\u00d7${last - first}`;
    const left = places[first] - radius - 4 - textWidth(plot, text, 11, true);
    const x = left > plot.box.left ? left : places[last - 1] + radius + 4;
    const style = /** @type {TextStyle} */ ({ size: 11, bold: true, halo: true, colour, baseline: "middle" });
    writeText(plot, text, x, (room.top + room.bottom) / 2, style);
  }
}

/** Rows of dots that a strip has room for. */
function laneCount(radius, { top, bottom }) {
  return Math.max(1, Math.floor((bottom - top) / (2 * radius + 0.4)));
}

/** Ring around the sample whose removal weakens the feature most. */
function markCulprit(/** @type {FeatureChart} */ chart, /** @type {FeatureRow} */ row, culprit) {
  const dot = chart.dots.find((each) => each.sample === culprit && each.name === row.name);
  if (!dot) return;
  ringAt(chart.plot, dot.x, dot.y, 6, chart.plot.palette.back, 3.5);
  ringAt(chart.plot, dot.x, dot.y, 6, chart.plot.palette.ink, 1.5);
}

/** Word on the ringed sample, at the right above the band of its class; nothing if there is no room. */
export function paintCulpritWords(
  /** @type {FeatureChart} */ chart, /** @type {FeatureRow} */ row, { top, from, culprit },
) {
  const { plot, context } = chart;
  if (!row.values || !row.values.some(({ sample }) => sample === culprit)) return;
  const { values } = context.payload;
  const text = `leans most on ${namesSamples(context.payload) ? "" : "sample "}${shownName(values?.samples[culprit])}`;
  const width = textWidth(plot, text, 11);
  if (text.length > 80 || plot.box.right - width - 14 < from + 10) return;
  ringAt(plot, plot.box.right - width - 9, top + 9, 4.5, plot.palette.ink, 1.5);
  writeText(plot, text, plot.box.right, top + 13, { align: "right", size: 11, halo: true });
}

/** Heights for dots at increasing places so that few overlap: the free lane nearest the middle, always the same. */
function swarm(places, radius, { top, bottom }) {
  const step = 2 * radius + 0.4;
  const lanes = laneCount(radius, { top, bottom });
  const ends = new Array(lanes).fill(-Infinity);
  const middle = (lanes - 1) / 2;
  const order = ends.map((_, k) => k).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b);
  return places.map((x) => {
    let lane = order.find((each) => ends[each] <= x - step);
    if (lane === undefined) lane = order.reduce((best, each) => (ends[each] < ends[best] ? each : best), order[0]);
    ends[lane] = x;
    return (top + bottom) / 2 + (lane - middle) * step;
  });
}

/** Sample and value of the dot pointed at. */
export function hoverValue(/** @type {FeatureChart} */ chart, x, y) {
  /** @type {Dot | null} */
  let best = null;
  let least = 14 * 14;
  for (const dot of chart.dots) {
    const distance = (dot.x - x) ** 2 + (dot.y - y) ** 2;
    if (distance < least) [best, least] = [dot, distance];
  }
  if (!best) return null;
  const { payload } = chart.context;
  const name = shownName(payload.values?.samples?.[best.sample] ?? best.sample);
  const sample = namesSamples(payload) ? name : `sample ${name}, counting from 0`;
  const culprit = culpritOf(payload, chart.which(chart.view)) === best.sample;
  const lines = [sample, best.name, `value ${formatNumber(best.value, 4)}`];
  if (culprit) lines.push("the feature leans on this sample most");
  return { x: best.x, y: best.y, lines };
}

/** Shares, rates or means of the classes that the columns give: [{owner, level, kind, value}]. */
function classColumns(/** @type {Payload} */ payload, position) {
  const found = [];
  for (const kind of ["share", "rate", "mean"]) {
    for (const column of payload.columns || []) {
      if (column.kind !== "number" || column.annotation || !column.key.startsWith(`${kind}_`)) continue;
      const owner = column.class ?? payload.classes.findIndex((name) => column.key === `${kind}_${name}`);
      if (!(owner >= 0) || (kind === "share" && column.class === undefined)) continue;
      const value = Number(decodedOnce(column.values)[position] ?? NaN);
      found.push({ owner, level: String(column.level ?? ""), kind, value });
    }
    if (found.length) return found;
  }
  return found;
}

/** Horizontal bars of shares or rates, class by class, for models without means and standard deviations. */
export function paintClassColumns(/** @type {FeatureChart} */ chart, position, name) {
  const { plot, context } = chart;
  const { payload } = context;
  const found = classColumns(payload, position).filter((each) => Number.isFinite(each.value));
  if (!found.length) {
    drawMessage(plot, `There are no values or class statistics of ${name} to draw.`);
    plot.describe(`Nothing to draw for ${name}.`);
    return;
  }
  const { palette, box, ctx } = plot;
  const rate = found[0].kind !== "share";
  const levels = [...new Set(found.map((each) => each.level))];
  found.sort((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level) || a.owner - b.owner);
  const left = Math.min(130, plot.width * 0.32);
  const most = Math.max(...found.map((each) => each.value));
  const scale = linearScale([0, most || 1], [left, box.right - 56]);
  const step = Math.min(30, (plot.height - box.top - 8) / (found.length + 0.6 * (levels.length - 1)));
  writeText(plot, rate ? `${found[0].kind} per class` : "share per class", 4, 13);
  found.forEach((each, k) => {
    const y = box.top + k * step + levels.indexOf(each.level) * 0.6 * step;
    const owner = payload.classes[each.owner];
    const label = shownName(each.level ? `${each.level}, ${owner}` : owner);
    ctx.fillStyle = palette[`class-${each.owner % 8}`];
    ctx.fillRect(left, y + step * 0.14, Math.max(1, scale(each.value) - left), step * 0.72);
    /** @type {TextStyle} */
    const words = { baseline: "middle", size: 11.5 };
    writeText(plot, fitText(plot, label, left - 10), left - 8, y + step / 2, { ...words, align: "right" });
    const text = rate ? formatNumber(each.value, 3) : percentText(each.value, 1);
    writeText(plot, text, scale(each.value) + 6, y + step / 2, words);
  });
  const said = found.map((each) => {
    return [payload.classes[each.owner], each.level, formatNumber(each.value, 3)].filter(String).join(" ");
  });
  plot.describe(`${name}, ${rate ? found[0].kind : "share"} by class: ${said.join("; ")}.`);
}

/** Number of a column of the payload for a feature. */
export function columnNumber(/** @type {Payload} */ payload, key, position) {
  const column = ownColumn(payload, key);
  return column?.values ? Number(decodedOnce(column.values)[position] ?? NaN) : NaN;
}
