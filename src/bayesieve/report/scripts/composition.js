// @ts-check

import { statisticAt } from "./feature_plot.js";
import { columnNumber } from "./feature_strip.js";
import { formatCompact, formatSigned, shownName } from "./numbers.js";
import { createPlot, drawBottomAxis, drawLine, fitText, textWidth, wishHeight, writeText } from "./plot.js";
import { logOddsOf, ratioPart } from "./rules.js";
import { finiteExtent, linearScale, niceTicks } from "./scales.js";
import { openedPosition } from "./state.js";

/** @import { Chart, Context, Evidence, Part, Payload, Plot, State, TextStyle, View, WaterfallRow } from "./types.js" */

const LEAST_NAME = "least over leaving one sample out";

/** How the log-odds of the open feature add up: prior, prior ratio, class sizes, means, variances. */
export function createCompositionPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 6, right: 12, bottom: 30, left: 12 } });
  const chart = /** @type {Chart} */ ({ plot, context });
  const fit = () => {
    if (chart.view && wishHeight(plot, 30 * (compositionParts(context, chart.view).length + 1) + 40)) plot.measure();
  };
  return {
    plot,
    update: (view) => { chart.view = view; fit(); paintComposition(chart); },
    redraw: () => { fit(); plot.measure(); paintComposition(chart); },
  };
}

/** Live prior log-odds of a feature. */
function livePriorLogOdds(/** @type {Evidence} */ evidence, /** @type {State} */ state, position) {
  return evidence.priors ? evidence.priors[position] + Math.log(state.odds_factor) : logOddsOf(evidence, state.prior);
}

/** Parts of the log-odds of the open feature as [{name, value}]; they add up to the log-odds. */
export function compositionParts(/** @type {Context} */ context, /** @type {View} */ view) {
  const { payload, evidence } = context;
  const position = openedPosition(view);
  const shift = ratioPart(evidence, view.state);
  const evidenceTotal = evidence.logBayesFactor[position] + shift;
  const parts = [{ name: "prior", value: livePriorLogOdds(evidence, view.state, position) }];
  const { composition } = payload;
  if (composition && composition.kind === "jeffreys") {
    const found = jeffreysParts(payload, position, shift);
    const rest = found ? restOf(found, evidenceTotal) : NaN; // else a floor or a policy had its say
    if (found && rest === 0) return parts.concat(found);
    if (found && !payload.calibrated && Number.isFinite(rest)) return parts.concat(found, [{ name: LEAST_NAME, value: rest }]);
  }
  if (composition && composition.kind === "blocks") {
    const found = composition.keys.map((key, k) => {
      return { name: shownName(composition.names[k]), value: columnNumber(payload, key, position) };
    });
    const known = found.filter((part) => Number.isFinite(part.value));
    const rest = restOf(known, evidenceTotal);
    const more = rest ? [{ name: "prior ratio moved", value: rest }] : [];
    if (known.length && Number.isFinite(rest)) return parts.concat(known, more);
  }
  if (composition && composition.kind === "terms") {
    const first = statisticAt([composition.first], 0, position);
    const rest = evidenceTotal - first;
    const second = Math.abs(rest) > 1e-5 * (1 + Math.abs(evidenceTotal)) ? rest : 0; // the first is of single precision
    if (Number.isFinite(first)) return parts.concat([first, second].map((value, k) => ({ name: composition.names[k], value })));
  }
  return parts.concat([{ name: payload.calibrated ? "data" : LEAST_NAME, value: evidenceTotal }]);
}

/** Parts of a log Bayes factor of two classes under Jeffreys' prior; null where a class has no spread. */
function jeffreysParts(/** @type {Payload} */ payload, position, shift) {
  const { statistics, composition } = payload;
  if (!statistics || !composition || composition.kind !== "jeffreys") return null;
  const at = (key, k) => statisticAt(statistics[key], k, position);
  const [n0, n1] = [at("count", 0), at("count", 1)];
  const squares = [(n0 - 1) * at("sd", 0) ** 2, (n1 - 1) * at("sd", 1) ** 2];
  const [n, within] = [n0 + n1, squares[0] + squares[1]];
  const told = columnNumber(payload, "mean_difference", position); // means far from 0 are too coarse to subtract
  const difference = Number.isFinite(told) ? told : at("mean", 1) - at("mean", 0);
  const constant = statisticAt([composition.constant], 0, position);
  const means = (n / 2) * Math.log1p((n0 * n1 * difference ** 2) / (n * within));
  const own = (n0 / 2) * Math.log(squares[0] / n0) + (n1 / 2) * Math.log(squares[1] / n1);
  const spreads = (n / 2) * Math.log(within / n) - own;
  const parts = [
    { name: "prior ratio", value: composition.log_ratio + shift }, { name: "class sizes", value: constant },
    { name: "means differ", value: means }, { name: "variances differ", value: spreads },
  ];
  return parts.every((part) => Number.isFinite(part.value)) ? parts : null;
}

/** What parts lack to a total; 0 if that is no more than the rounding of single precision. */
function restOf(/** @type {Part[]} */ parts, total) {
  const rest = total - parts.reduce((sum, part) => sum + part.value, 0);
  const seen = Math.abs(rest) > 0.02 + 1e-4 * Math.abs(total);
  return seen ? rest : 0;
}

/** Rows of the waterfall: where every part starts and ends. */
function waterfall(/** @type {Part[]} */ parts) {
  let sum = 0;
  const rows = parts.map((part) => {
    const from = sum;
    sum += part.value;
    return { ...part, from, to: sum, total: false };
  });
  return rows.concat([{ name: "log-odds", value: sum, from: 0, to: sum, total: true }]);
}

/** Paint the waterfall; numbers stand in a column at the right. */
function paintComposition(/** @type {Chart} */ chart) {
  const { plot, context, view } = chart;
  if (!view || !plot.begin()) return;
  const { box, palette } = plot;
  const parts = compositionParts(context, view);
  const rows = waterfall(parts);
  rows[rows.length - 1].value = context.evidence.logOdds(view.state)[openedPosition(view)];
  const left = Math.max(...rows.map((row) => textWidth(plot, row.name, 12, row.total))) + 24;
  const right = Math.max(40, ...rows.map((row) => textWidth(plot, partNumber(row), 12, row.total))) + 12;
  const ends = finiteExtent(rows.flatMap((row) => [row.from, row.to]), [0, 1e-9]) || [0, 0];
  const room = (ends[1] - ends[0] || 1) * 0.02;
  const scale = linearScale([ends[0] - room, ends[1] + room], [Math.min(left, plot.width * 0.42), box.right - right]);
  const step = (box.bottom - box.top) / rows.length;
  const ticks = ends[1] - ends[0] > 1e-6 ? niceTicks(...scale.domain, plot.compact ? 3 : 5) : [0]; // prior 0 or 1
  const axis = { ...box, left: scale.range[0], right: scale.range[1] };
  plot.box = axis;
  drawBottomAxis(plot, scale, { ticks });
  plot.box = box;
  drawLine(plot, scale(0), box.top, scale(0), box.bottom, { colour: palette["ink-soft"], width: 1 });
  rows.forEach((row, k) => paintPart(plot, row, { scale, top: box.top + k * step, step, next: rows[k + 1] }));
  const said = rows.map((row) => `${row.name} ${formatSigned(row.value, 3)}`);
  plot.describe(`Composition of the log-odds: ${said.join(", ")}.`);
}

/** The number of a bar. */
function partNumber(/** @type {WaterfallRow} */ row) {
  return `${row.value > 0 ? "+" : ""}${formatCompact(row.value, 3)}`;
}

/** A text in one line or, where that is too long, in two. */
function twoLines(/** @type {Plot} */ plot, text, width, /** @type {TextStyle} */ { size, bold }) {
  if (textWidth(plot, text, size, bold) <= width || !text.includes(" ")) return [fitText(plot, text, width, size, bold)];
  const words = text.split(" ");
  let first = 1;
  while (first < words.length - 1 && textWidth(plot, words.slice(0, first + 1).join(" "), size, bold) <= width) first += 1;
  return [words.slice(0, first), words.slice(first)].map((part) => fitText(plot, part.join(" "), width, size, bold));
}

/** One bar with its name, its number and the thread to the next bar. */
function paintPart(/** @type {Plot} */ plot, /** @type {WaterfallRow} */ row, { scale, top, step, next }) {
  const { palette, ctx, box } = plot;
  const middle = top + step / 2;
  /** @type {TextStyle} */
  const words = { baseline: "middle", size: plot.compact ? 11 : 12, bold: row.total };
  if (row.total) drawLine(plot, box.left, top + 1, box.right, top + 1, { colour: palette.rule });
  const lines = twoLines(plot, row.name, scale.range[0] - box.left - 8, words);
  lines.forEach((line, k) => writeText(plot, line, box.left, middle + (k - (lines.length - 1) / 2) * 13, words));
  writeText(plot, partNumber(row), box.right, middle, { ...words, align: "right" });
  if (!Number.isFinite(row.from) || !Number.isFinite(row.to)) return;
  const [from, to] = [scale(row.from), scale(row.to)];
  ctx.fillStyle = row.total ? palette.ink : row.to >= row.from ? palette.true : palette.false;
  ctx.globalAlpha = row.total ? 0.85 : 1;
  ctx.fillRect(Math.min(from, to), middle - step * 0.3, Math.max(1.5, Math.abs(to - from)), step * 0.6);
  ctx.globalAlpha = 1;
  const thread = { colour: palette["ink-soft"], dash: [2, 2] };
  if (next) drawLine(plot, to, middle + step * 0.3, to, middle + step * 0.7, thread);
}
