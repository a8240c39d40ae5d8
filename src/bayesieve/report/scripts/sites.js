// @ts-check

import { byId } from "./elements.js";
import { decodedOnce, formatCount, formatNumber, formatSigned, shorten, shownName } from "./numbers.js";
import {
  createPlot, drawBottomAxis, drawLine, drawMessage, drawPath, fitText, textWidth, wishHeight, writeText,
} from "./plot.js";
import { connectHover } from "./pointing.js";
import { finiteExtent, linearScale, niceTicks, percentText } from "./scales.js";
import { openedPosition } from "./state.js";

/** @import { Context, ForestChart, ForestRow, Plot, Scale, Sites, TextStyle, View } from "./types.js" */

const FOREST_ROW = 30;

/** Forest plot of the open feature: its difference site by site and pooled, with log Bayes factors. */
export function createForestPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 34, right: 10, bottom: 44, left: 10 } });
  const chart = /** @type {ForestChart} */ ({ plot, context, rows: /** @type {ForestRow[]} */ ([]), step: FOREST_ROW });
  const { sites } = context.payload;
  const fit = () => { if (sites) wishHeight(plot, Math.round((sites.names.length + 1.6) * FOREST_ROW) + 78); };
  fit();
  connectHover(plot, (x, y) => hoverForest(chart, x, y));
  return {
    plot,
    update: (view) => { chart.view = view; paintForest(chart); },
    redraw: () => { fit(); plot.measure(); paintForest(chart); },
  };
}

/** Entry of an encoded array; NaN if the array or the entry is missing. */
function entryAt(encoded, position) {
  const array = decodedOnce(encoded);
  return array ? Number(array[position] ?? NaN) : NaN;
}

/**
 * Rows of the forest for a feature: the sites, then all of them pooled.
 * @returns {ForestRow[]}
 */
function forestRows(/** @type {Sites} */ sites, position) {
  const at = (key, k) => (sites[key] ? entryAt(sites[key][k], position) : NaN);
  const rows = sites.names.map((name, k) => {
    const counts = sites.counts[k] || [];
    return {
      name: shownName(name), counts, size: counts.reduce((sum, n) => sum + n, 0), pooled: false,
      difference: at("difference", k), low: at("low", k), high: at("high", k), evidence: at("log_bayes_factor", k),
      y: 0,
    };
  });
  const of = (key) => (sites.pooled ? entryAt(sites.pooled[key], position) : NaN);
  const counts = (sites.counts[0] || []).map((_, k) => sites.counts.reduce((sum, each) => sum + each[k], 0));
  rows.push({
    name: "all pooled", counts, size: 0, pooled: true,
    difference: of("difference"), low: of("low"), high: of("high"), evidence: of("log_bayes_factor"),
    y: 0,
  });
  return rows;
}

/** Ends of the differences drawn; intervals over five times as wide as the rest are cut off. */
function forestDomain(/** @type {ForestRow[]} */ rows) {
  const pooled = rows[rows.length - 1];
  const [low, high] = finiteExtent(rows.flatMap((row) => [row.low, row.high, row.difference]), [0]) || [0, 0];
  const centre = finiteExtent(rows.map((row) => row.difference), [0, pooled.low, pooled.high]) || [0, 0];
  const span = centre[1] - centre[0] || high - low || 1;
  const ends = [Math.max(low, centre[0] - 2.5 * span), Math.min(high, centre[1] + 2.5 * span)];
  const room = (ends[1] - ends[0] || 1) * 0.05;
  return [ends[0] - room, ends[1] + room];
}

/** Paint the forest. */
function paintForest(/** @type {ForestChart} */ chart) {
  const { plot, context, view } = chart;
  if (!view || !plot.begin()) return;
  const { sites, names } = context.payload;
  if (!sites || !sites.n) {
    drawMessage(plot, "There are no sites to compare.");
    plot.describe("Forest plot: there are no sites to compare.");
    return;
  }
  const opened = openedPosition(view);
  const position = opened < sites.n ? opened : 0;
  const rows = forestRows(sites, position);
  const { box } = plot;
  const longest = Math.max(60, ...rows.map((row) => textWidth(plot, row.name, 12.5, true)));
  const left = Math.min(plot.width * 0.34, longest + 20);
  const scale = linearScale(forestDomain(rows), [box.left + left, box.right - 66]);
  chart.rows = rows;
  chart.scale = scale;
  paintForestAxis(plot, scale, sites, fitText(plot, shownName(names[position]), plot.width * 0.5, 12.5, true));
  const most = Math.max(1, ...rows.map((row) => row.size));
  chart.step = (box.bottom - box.top) / (rows.length + 0.6);
  rows.forEach((row, k) => {
    row.y = box.top + (k + 0.5 + (row.pooled ? 0.3 : 0)) * chart.step;
    paintForestRow(plot, row, scale, { most, step: chart.step, bold: row.pooled && sites.used === "pooled" });
  });
  const combined = entryAt(sites.combined, position);
  if (Number.isFinite(combined)) paintCombined(plot, rows[rows.length - 1], combined, sites.used === "combined");
  const pooled = rows[rows.length - 1];
  plot.describe(`Forest plot of ${shownName(names[position])}: ${rows.map((row) => forestWords(row, sites.level)).join("; ")}. `
    + `${Number.isFinite(pooled.difference) ? "" : "Differences are not given for these classes."}`);
}

/** Axis, line at 0 and headings. */
function paintForestAxis(/** @type {Plot} */ plot, /** @type {Scale} */ scale, /** @type {Sites} */ sites, name) {
  const { box, palette } = plot;
  plot.box = { ...box, left: scale.range[0], right: scale.range[1] };
  drawBottomAxis(plot, scale, { ticks: niceTicks(...scale.domain, plot.compact ? 3 : 6), title: sites.title });
  plot.box = box;
  const zero = scale(0);
  if (zero >= scale.range[0] && zero <= scale.range[1]) {
    drawLine(plot, zero, box.top, zero, box.bottom, { colour: palette["ink-soft"] });
  }
  writeText(plot, name, box.left, 15, { bold: true, size: 12.5 });
  const heading = plot.compact ? "log BF" : "log Bayes factor";
  writeText(plot, heading, box.right, 15, { align: "right", size: 11, colour: palette["ink-soft"] });
}

/** A site: square sized by its samples with an interval; the pooled difference as a diamond. */
function paintForestRow(
  /** @type {Plot} */ plot, /** @type {ForestRow} */ row, /** @type {Scale} */ scale, { most, step, bold },
) {
  const { palette, ctx } = plot;
  const [left, right] = scale.range;
  paintForestWords(plot, row, left, { step, bold });
  if (!Number.isFinite(row.difference)) return;
  const clamp = (value) => Math.max(left, Math.min(right, scale(value)));
  const [x, low, high] = [scale(row.difference), clamp(row.low), clamp(row.high)];
  if (row.pooled) {
    ctx.beginPath();
    for (const [a, b] of [[low, row.y], [x, row.y - 8], [high, row.y], [x, row.y + 8]]) ctx.lineTo(a, b);
    ctx.closePath();
    ctx.fillStyle = palette.accent;
    ctx.fill();
    return;
  }
  drawLine(plot, low, row.y, high, row.y, { colour: palette.ink, width: 1.5 });
  for (const [end, bound, sign] of [[low, row.low, 1], [high, row.high, -1]]) {
    if (bound >= scale.domain[0] && bound <= scale.domain[1]) continue;
    const head = [[end + 5 * sign, row.y - 4], [end, row.y], [end + 5 * sign, row.y + 4]];
    drawPath(plot, head, { colour: palette.ink, width: 1.5 });
  }
  const half = Math.min(step * 0.35, 3 + 5 * Math.sqrt(row.size / most));
  ctx.fillStyle = palette.accent;
  ctx.fillRect(x - half, row.y - half, 2 * half, 2 * half);
}

/** Name and samples of a row at the left, its log Bayes factor at the right; bold where the screen used it. */
function paintForestWords(/** @type {Plot} */ plot, /** @type {ForestRow} */ row, edge, { step, bold }) {
  const { palette, box } = plot;
  const over = row.y - step * 0.6;
  if (row.pooled) drawLine(plot, box.left, over, box.right, over, { colour: palette.rule });
  const counts = step > 25 ? row.counts.map((n) => formatCount(n)).join(" + ") : "";
  const room = edge - box.left - 12;
  writeText(plot, fitText(plot, row.name, room, 12.5, bold), box.left, row.y - (counts ? 1 : -4), { size: 12.5, bold });
  if (counts) {
    writeText(plot, fitText(plot, counts, room, 11), box.left, row.y + 12, { size: 11, colour: palette["ink-soft"] });
  }
  const evidence = Number.isFinite(row.evidence) ? formatSigned(row.evidence, 3) : "\u2013";
  writeText(plot, evidence, box.right, row.y + 4, { align: "right", size: 12, bold });
}

/** Sum of the sites' own log Bayes factors, under that of the pooled data; bold where the screen used it. */
function paintCombined(/** @type {Plot} */ plot, /** @type {ForestRow} */ row, combined, bold) {
  const text = plot.compact ? `sum ${formatSigned(combined, 3)}` : `sum of the sites ${formatSigned(combined, 3)}`;
  /** @type {TextStyle} */
  const style = { align: "right", size: 11, bold, colour: plot.palette[bold ? "ink" : "ink-soft"], halo: true };
  writeText(plot, text, plot.box.right, row.y + 19, style);
}

/** A row in words. */
function forestWords(/** @type {ForestRow} */ row, level) {
  const interval = `${percentText(level ?? 0.95)} interval ${formatNumber(row.low, 3)} to ${formatNumber(row.high, 3)}`;
  const range = Number.isFinite(row.difference) ? ` difference ${formatNumber(row.difference, 3)} (${interval}),` : "";
  const evidence = Number.isFinite(row.evidence) ? formatNumber(row.evidence, 3) : "unknown";
  return `${row.name}${range} log Bayes factor ${evidence}`;
}

/** Numbers of the row pointed at. */
function hoverForest(/** @type {ForestChart} */ chart, x, y) {
  const row = chart.rows.find((each) => Math.abs(each.y - y) < chart.step / 2);
  if (!row || !chart.scale) return null;
  const level = chart.context.payload.sites?.level;
  const lines = [row.name];
  if (row.counts.length) lines.push(`samples ${row.counts.map((n) => formatCount(n)).join(" + ")}`);
  if (Number.isFinite(row.difference)) {
    lines.push(`difference ${formatNumber(row.difference, 3)}`);
    lines.push(`${percentText(level ?? 0.95)} interval ${formatNumber(row.low, 3)} to ${formatNumber(row.high, 3)}`);
  }
  if (Number.isFinite(row.evidence)) lines.push(`log Bayes factor ${formatNumber(row.evidence, 3)}`);
  return { x, y: row.y, lines };
}

/** Make the section; null without sites. update(view) shows the opened feature or the strongest. */
export function createSitesPanel(/** @type {Context} */ context) {
  const { sites } = context.details;
  const section = document.getElementById("sites");
  if (!sites || !section) {
    return null;
  }
  const select = byId("sites-select");
  select.append(...Array.from({ length: sites.n }, (_, i) => {
    const option = document.createElement("option");
    option.value = String(i);
    option.textContent = `${i + 1}. ${shorten(shownName(context.details.names[i]), 60)}`;
    return option;
  }));
  select.addEventListener("change", () => context.store.set({ feature: Number(select.value) }));
  return { update: (view) => updateSites(context, sites, view) };
}

/** Fill the table of sites for one feature. */
function updateSites(/** @type {Context} */ context, /** @type {Sites} */ sites, /** @type {View} */ view) {
  const { details, payload } = context;
  const opened = view.state.feature ?? 0;
  const position = opened < sites.n ? opened : 0;
  byId("sites-select").value = String(position);
  byId("sites-feature").textContent = shownName(details.names[position]);
  const table = byId("sites-table");
  const head = ["Site", ...payload.classes.map((label) => `n ${label}`), "Log Bayes factor"];
  const rows = sites.names.map((name, s) => {
    return [name, ...sites.counts[s].map(formatCount), formatNumber(sites.log_bayes_factor[s][position], 3)];
  });
  const totals = payload.classes.map((_, c) => formatCount(sites.counts.reduce((sum, counts) => sum + counts[c], 0)));
  const blanks = payload.classes.map(() => "");
  rows.push(["Sum over the sites", ...blanks, formatNumber(sites.combined[position], 3)]);
  rows.push(["All samples as one", ...totals, formatNumber(sites.pooled.log_bayes_factor[position], 3)]);
  table.tHead?.replaceChildren(sitesRow(head, "th"));
  table.tBodies[0].replaceChildren(...rows.map((cells) => sitesRow(cells, "td")));
}

/** One row of the table of sites. */
function sitesRow(texts, kind) {
  const row = document.createElement("tr");
  row.append(...texts.map((text, place) => {
    const cell = document.createElement(place ? kind : "th");
    if (cell.tagName === "TH") {
      cell.scope = kind === "th" ? "col" : "row";
    }
    cell.textContent = shownName(text);
    return cell;
  }));
  return row;
}
