// @ts-check
// How the list depends on the prior: its length and its false positives over a grid of prior probabilities.

import { formatCount, formatNumber } from "./numbers.js";
import {
  createPlot, drawBottomAxis, drawDot, drawLeftAxis, drawLine, drawMessage, drawPath, fitLeft, textWidth, writeText,
} from "./plot.js";
import { connectHover } from "./pointing.js";
import { RULE_NUMBERS, solve } from "./rules.js";
import { countScale, logScale, logTicks, spacedTicks, tickText } from "./scales.js";

/** @import { Context, SensitivityChart, View } from "./types.js" */

const PRIORS_TRIED = 31;
const FEWER_TRIED = 13; // where features are many
const MANY_FEATURES = 30000;
const LEAST_PRIOR = 1e-5;
const MOST_PRIOR = 0.5;

/** Lists over a grid of prior probabilities, by the rule of a view: [{prior, size, wrong}, ...]. */
export function listsByPrior(/** @type {View} */ { evidence, state }) {
  const apart = { ...evidence, slots: [], lastSolution: null, lastDistribution: null, ofTheRun: null };
  const tried = evidence.n > MANY_FEATURES ? FEWER_TRIED : PRIORS_TRIED;
  return Array.from({ length: tried }, (_, k) => {
    const prior = LEAST_PRIOR * (MOST_PRIOR / LEAST_PRIOR) ** (k / (tried - 1));
    const { size, expectedFalse, estimate } = solve(apart, { ...state, prior });
    return { prior, size, wrong: estimate ? estimate.expected : expectedFalse };
  });
}

/** Length of the list and false positives in it, over the prior probability. */
export function createSensitivityPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 46, right: 20, bottom: 44, left: 46 } });
  const chart = /** @type {SensitivityChart} */ ({ plot, context, lists: null, key: "" });
  connectHover(plot, (x) => hoverPrior(chart, x));
  return {
    plot,
    update: (view) => { chart.view = view; paintSensitivity(chart); },
    redraw: () => { plot.measure(); paintSensitivity(chart); },
  };
}

/** Paint both lines and the present prior. */
function paintSensitivity(/** @type {SensitivityChart} */ chart) {
  const { plot, view } = chart;
  if (!view || !plot.begin()) return;
  const { state, stored } = view;
  if (stored.prior === null || !(stored.prior > 0 && stored.prior < 1)) {
    drawMessage(plot, "Every feature has a prior probability of its own: there is no single one to vary.");
    plot.describe("Sensitivity to the prior: there is no single prior probability to vary.");
    return;
  }
  const key = [state.rule, ...RULE_NUMBERS[state.rule].map((name) => state[name]), state.ratio].join(" ");
  if (key !== chart.key || !chart.lists) Object.assign(chart, { key, lists: listsByPrior(view) });
  const lists = chart.lists ?? [];
  const most = Math.max(1, ...lists.map(({ size, wrong }) => Math.max(size, wrong)));
  const tall = countScale([0, most * 1.1], [plot.box.bottom, plot.box.top]);
  const ticks = spacedTicks(tall, 24);
  fitLeft(plot, ticks.map((tick) => tickText(tick)));
  const wide = logScale([LEAST_PRIOR, MOST_PRIOR], [plot.box.left, plot.box.right]);
  Object.assign(chart, { wide, tall });
  drawBottomAxis(plot, wide, { ticks: logTicks([LEAST_PRIOR, MOST_PRIOR]), texts: logTicks([LEAST_PRIOR, MOST_PRIOR]).map((tick) => tickText(tick)), title: "prior probability of being a marker" });
  drawLeftAxis(plot, tall, { ticks, texts: ticks.map((tick) => tickText(tick)), title: "features" });
  drawPath(plot, lists.map(({ prior, wrong }) => [wide(prior), tall(wrong)]), { colour: plot.palette.false, dash: [5, 3] });
  drawPath(plot, lists.map(({ prior, size }) => [wide(prior), tall(size)]), { colour: plot.palette.accent, width: 2 });
  paintPriorKey(chart);
  const { size } = view.solution;
  if (state.prior !== null && state.prior >= LEAST_PRIOR && state.prior <= MOST_PRIOR) {
    drawLine(plot, wide(state.prior), plot.box.top, wide(state.prior), plot.box.bottom, { colour: plot.palette["ink-soft"], dash: [3, 3] });
    drawDot(plot, wide(state.prior), tall(size), plot.palette.accent);
  }
  const [low, high] = [lists[0], lists[lists.length - 1]];
  plot.describe(`Length of the list over the prior probability: ${formatCount(low.size)} features at ${formatNumber(low.prior, 2)}, `
    + `${formatCount(high.size)} at ${formatNumber(high.prior, 2)}; now ${formatCount(size)} at ${formatNumber(state.prior, 3)}.`);
}

/** Key of the lines. */
function paintPriorKey(/** @type {SensitivityChart} */ { plot }) {
  let x = plot.box.left;
  const entries = [["length of the list", plot.palette.accent, []], [plot.compact ? "false positives" : "false positives expected in it", plot.palette.false, [5, 3]]];
  for (const [text, colour, dash] of /** @type {[string, string, number[]][]} */ (entries)) {
    drawLine(plot, x, plot.box.top - 13, x + 20, plot.box.top - 13, { colour, dash, width: 2 });
    writeText(plot, text, x + 25, plot.box.top - 9, { size: 11 });
    x += 40 + textWidth(plot, text, 11);
  }
}

/** Numbers at the prior pointed at. */
function hoverPrior(/** @type {SensitivityChart} */ { lists, wide, tall, plot }, x) {
  if (!lists || !wide || x < plot.box.left - 4 || x > plot.box.right + 4) return null;
  const nearest = lists.reduce((best, each) => (Math.abs(wide(each.prior) - x) < Math.abs(wide(best.prior) - x) ? each : best));
  const { prior, size, wrong } = nearest;
  const lines = [`prior probability ${formatNumber(prior, 2)}`, `${formatCount(size)} features in the list`];
  lines.push(`${formatNumber(wrong, 3)} false positives expected`);
  return { x: wide(prior), y: tall(size), lines };
}
