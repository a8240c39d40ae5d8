// @ts-check

import { culpritOf, hoverValue, paintClassColumns, paintCulpritWords, paintStrip } from "./feature_strip.js";
import { decodedOnce, formatApart, formatCount, formatNumber, shownName, SINGLE_DIGITS } from "./numbers.js";
import {
  createPlot, drawArea, drawBottomAxis, drawLine, drawPath, fitText, textWidth, wishHeight, writeText,
} from "./plot.js";
import { connectHover } from "./pointing.js";
import { countScale, finiteExtent, linearScale, niceTicks, spacedTicks, studentDensity } from "./scales.js";
import { openedPosition } from "./state.js";

/** @import { Context, Dot, FeatureChart, FeatureRow, Payload, Plot, View } from "./types.js" */

/** The open feature: values of every class, fitted predictive densities, means and standard deviations. */
export function createFeaturePlot(
  element, /** @type {Context} */ context, /** @type {(view: View) => number} */ which = openedPosition,
) {
  const plot = createPlot(element, { margin: { top: 24, right: 14, bottom: 40, left: 14 } });
  const chart = /** @type {FeatureChart} */ ({ plot, context, which, dots: /** @type {Dot[]} */ ([]) });
  const rows = context.payload.classes.length;
  const fit = () => { if (rows > 2) wishHeight(plot, Math.min(900, 70 + 108 * rows)); };
  fit();
  connectHover(plot, (x, y) => hoverValue(chart, x, y));
  return {
    plot,
    update: (view) => {
      const same = chart.view && which(chart.view) === which(view) && plot.width > 0;
      chart.view = view;
      if (!same) paintFeaturePlot(chart);
    },
    redraw: () => { fit(); plot.measure(); paintFeaturePlot(chart); },
  };
}

/** Paint the chart with the best there is: values and densities, densities, means, or the columns of the classes. */
function paintFeaturePlot(/** @type {FeatureChart} */ chart) {
  const { plot, context, view } = chart;
  if (!view || !plot.begin()) return;
  chart.dots = [];
  const position = chart.which(view);
  const name = shownName(context.payload.names[position] ?? `number ${position + 1}`);
  const rows = featureRows(context.payload, position);
  if (rows.some((row) => row.values || row.density || Number.isFinite(row.mean))) {
    paintFeatureRows(chart, rows, position);
    plot.describe(`${name} by class: ${rows.map(rowWords).join("; ")}.`);
  } else {
    paintClassColumns(chart, position, name);
  }
}

/** A row of the chart in words. */
function rowWords(/** @type {FeatureRow} */ row) {
  const spread = Number.isFinite(row.sd) ? `, standard deviation ${formatNumber(row.sd, 3)}` : "";
  const centre = Number.isFinite(row.mean) ? ` mean ${row.meanText}${spread}` : "";
  return `${row.name} (n = ${row.count === null ? "unknown" : formatCount(row.count)})${centre}`;
}

/** Entry of a per-class statistic, which may be an array over features or one number for all of them. */
export function statisticAt(entries, k, position) {
  const entry = entries ? decodedOnce(entries[k]) : null;
  if (entry === null || entry === undefined) return NaN;
  return typeof entry === "number" ? entry : Number(entry[position] ?? NaN);
}

/** What is known of a feature in every class. */
function featureRows(/** @type {Payload} */ payload, position) {
  const { statistics, predictive, values, classes } = payload;
  const groups = values && position < values.n ? valuesByClass(values, position, classes.length) : null;
  const fitted = predictive && position < predictive.n;
  const means = classes.map((_, k) => (statistics ? statisticAt(statistics.mean, k, position) : NaN));
  const texts = formatApart(means, 3, SINGLE_DIGITS);
  return classes.map((name, k) => {
    const count = statistics ? statisticAt(statistics.count, k, position) : payload.class_counts[k];
    return {
      name: shownName(name), count: Number.isFinite(count) ? count : null, values: groups ? groups[k] : null,
      mean: means[k], meanText: texts[k],
      sd: statistics ? statisticAt(statistics.sd, k, position) : NaN,
      density: fitted ? predictiveAt(predictive, k, position) : null,
    };
  });
}

/** Predictive density of a class (or, as the last entry, of all together) for a feature. */
function predictiveAt(predictive, k, position) {
  const at = (key) => Number((decodedOnce(predictive[key][k]) || [])[position] ?? NaN);
  return studentDensity(at("dof"), at("location"), at("scale"));
}

/** Values of a feature with their sample numbers, by class; missing ones left out. */
function valuesByClass(values, position, n) {
  const owner = decodedOnce(values.class);
  const data = decodedOnce(values.data);
  /** @type {{ value: number, sample: number }[][]} */
  const groups = Array.from({ length: n }, () => []);
  for (let s = 0; s < owner.length; s += 1) {
    const value = data[position * owner.length + s];
    if (Number.isFinite(value) && groups[owner[s]]) groups[owner[s]].push({ value, sample: s });
  }
  groups.forEach((group) => group.sort((a, b) => a.value - b.value || a.sample - b.sample));
  return groups;
}

/** Ends of the values drawn: the values themselves and the bulk of the densities. */
function valueDomain(/** @type {FeatureRow[]} */ rows) {
  const seen = [];
  for (const row of rows) {
    if (row.values) row.values.forEach(({ value }) => seen.push(value));
    const reach = row.density && row.values && row.values.length > 1 ? 2.6 : 3.4;
    const spread = Number.isFinite(row.sd) ? reach * row.sd : 0;
    if (Number.isFinite(row.mean)) seen.push(row.mean - spread, row.mean + spread);
  }
  const [low, high] = finiteExtent(seen) || [-1, 1];
  const room = (high - low || Math.abs(high) * 0.1 || 1) * 0.04;
  return [low - room, high + room];
}

/** Densities of all rows and of all together, at places that are dense where a class is narrow. */
function densityCurves(/** @type {FeatureRow[]} */ rows, pooled, domain) {
  const between = (low, high, count) => Array.from({ length: count + 1 }, (_, k) => low + ((high - low) * k) / count);
  const narrow = rows.filter((row) => row.sd > 0 && row.sd < (domain[1] - domain[0]) / 60);
  const near = narrow.flatMap((row) => between(row.mean - 5 * row.sd, row.mean + 5 * row.sd, 60));
  const places = [...between(domain[0], domain[1], 240), ...near].filter((x) => x >= domain[0] && x <= domain[1]);
  places.sort((first, second) => first - second);
  const curves = [...rows.map((row) => row.density), pooled].map((density) => (density ? places.map(density) : null));
  return { places, curves };
}

/** Height of a band: its own curve, however narrow the other classes are, and what fits of its bars. */
function bandHeight(curve, pooled, bars) {
  const most = curve ? Math.max(...curve) : 0;
  const shared = pooled ? Math.min(Math.max(...pooled), 1.4 * most || Infinity) : 0;
  const tallest = Math.max(0, ...bars.map((bar) => bar.height));
  return Math.max(most, shared, Math.min(tallest, 1.4 * most || Infinity)) || 1;
}

/** Whether values are counts so unequal that an even scale would press most of them to one side. */
function needsCountScale(/** @type {FeatureRow[]} */ rows) {
  const values = rows.flatMap((row) => (row.values || []).map(({ value }) => value));
  if (rows.some((row) => row.density) || values.some((value) => value < 0 || value !== Math.round(value))) return false;
  return values.length > 0 && Math.max(...values) > 20;
}

/** One band per class: histogram and density above a base line, values and mean with standard deviation below. */
function paintFeatureRows(/** @type {FeatureChart} */ chart, /** @type {FeatureRow[]} */ rows, position) {
  const { plot, context } = chart;
  const { box, palette } = plot;
  const { predictive, classes } = context.payload;
  const counted = needsCountScale(rows);
  const reach = valueDomain(rows);
  const domain = counted ? [0, reach[1]] : reach;
  const scale = (counted ? countScale : linearScale)(domain, [box.left, box.right]);
  const pooled = predictive && position < predictive.n ? predictiveAt(predictive, classes.length, position) : null;
  const drawn = densityCurves(rows, pooled, domain);
  const ticks = counted ? spacedTicks(scale, 36) : niceTicks(...domain, plot.compact ? 4 : 7);
  const title = `value of ${shownName(context.payload.names[position])}${counted ? " (logarithmic, of 1 + count)" : ""}`;
  drawBottomAxis(plot, scale, { ticks, title });
  const culprit = culpritOf(context.payload, position);
  const band = (box.bottom - box.top) / rows.length;
  const bars = rows.map((row) => (row.values && !counted ? histogramOf(row.values, domain) : []));
  rows.forEach((row, k) => {
    const top = box.top + k * band;
    const base = top + (counted ? 18 : row.values ? band * 0.62 : row.density ? band * 0.74 : 16);
    const most = bandHeight(drawn.curves[k], drawn.curves[rows.length], bars[k]);
    const tall = linearScale([0, most], [base, top + 20]);
    const colour = palette[`class-${k % 8}`];
    const density = { drawn, k, bars: bars[k], scale, tall, base, colour, pooledAt: rows.length };
    if ((row.values && !counted) || row.density) paintDensity(plot, density);
    const strip = { top: base + 5, bottom: top + band - (k < rows.length - 1 ? 4 : 6) };
    paintStrip(chart, row, { scale, strip, colour, culprit });
    const from = paintRowWords(plot, row, top, colour);
    paintCulpritWords(chart, row, { top, from, culprit });
  });
  paintPooledKey(plot, Boolean(pooled));
}

/** Histogram of values as a density: about the square root of their number in bins. */
function histogramOf(values, domain) {
  if (values.length < 8) return [];
  const [low, high] = [values[0].value, values[values.length - 1].value];
  if (!(high > low)) return [];
  const quarter = (share) => values[Math.min(values.length - 1, Math.floor(share * values.length))].value;
  const robust = 2 * (quarter(0.75) - quarter(0.25)) * values.length ** (-1 / 3);
  const width = Math.max(robust || (high - low) / Math.sqrt(values.length), (domain[1] - domain[0]) / 80);
  const start = Math.floor(low / width) * width;
  const counts = new Array(Math.max(1, Math.floor((high - start) / width) + 1)).fill(0);
  for (const { value } of values) counts[Math.min(counts.length - 1, Math.floor((value - start) / width))] += 1;
  return counts.map((count, k) => {
    return { from: start + k * width, to: start + (k + 1) * width, height: count / (values.length * width) };
  });
}

/** Histogram, fitted density and the dashed density of all classes together. */
function paintDensity(/** @type {Plot} */ plot, { drawn, k, bars, scale, tall, base, colour, pooledAt }) {
  const { ctx, palette } = plot;
  const curve = drawn.curves[k];
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.22;
  for (const { from, to, height } of bars) {
    const top = Math.max(tall(height), tall.range[1] - 4);
    if (height > 0) ctx.fillRect(scale(from) + 0.5, top, Math.max(1, scale(to) - scale(from) - 1), base - top);
  }
  ctx.globalAlpha = 1;
  const line = (values) => values.map((value, at) => [scale(drawn.places[at]), tall(value)]);
  if (curve && !bars.length) drawArea(plot, line(curve), base, colour, 0.18);
  const pooled = drawn.curves[pooledAt];
  if (pooled) drawPath(plot, line(pooled), { colour: palette["ink-soft"], width: 1.25, dash: [4, 3] });
  if (curve) drawPath(plot, line(curve), { colour, width: 2 });
  drawLine(plot, scale.range[0], base, scale.range[1], base, { colour: palette.rule });
}

/** Name, number, mean and standard deviation of a class, at the left above its band; gives where they end. */
function paintRowWords(/** @type {Plot} */ plot, /** @type {FeatureRow} */ row, top, colour) {
  const name = fitText(plot, row.name, plot.width * 0.4, 12.5, true);
  writeText(plot, name, plot.box.left, top + 13, { bold: true, size: 12.5, colour, halo: true });
  const x = plot.box.left + textWidth(plot, name, 12.5, true) + 8;
  const parts = row.count === null ? [] : [`n = ${formatCount(row.count)}`];
  if (Number.isFinite(row.mean)) parts.push(`mean ${row.meanText}`);
  if (Number.isFinite(row.sd)) parts.push(`sd ${formatNumber(row.sd, 3)}`);
  const text = fitText(plot, parts.join(", "), plot.box.right - x, 11);
  writeText(plot, text, x, top + 13, { size: 11, colour: plot.palette["ink-soft"], halo: true });
  return x + textWidth(plot, text, 11);
}

/** Key of the lines above the chart. */
function paintPooledKey(/** @type {Plot} */ plot, pooled) {
  if (!pooled) return;
  const { palette, box } = plot;
  const full = plot.compact ? "all classes as one" : "fitted to all classes as one (no marker)";
  const width = textWidth(plot, full, 11);
  writeText(plot, full, box.right, 12, { align: "right", size: 11, colour: palette["ink-soft"] });
  const dashes = { colour: palette["ink-soft"], width: 1.25, dash: [4, 3] };
  drawLine(plot, box.right - width - 26, 8, box.right - width - 5, 8, dashes);
  const own = plot.compact ? "own fit" : "fitted to the class";
  const left = box.right - width - 42 - textWidth(plot, own, 11);
  writeText(plot, own, left, 12, { size: 11, colour: palette["ink-soft"] });
  drawLine(plot, left - 24, 8, left - 5, 8, { colour: palette["class-0"], width: 2 });
}
