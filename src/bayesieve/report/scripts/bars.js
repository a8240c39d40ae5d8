// @ts-check

import { firstWhere, formatUnderNull, formatCount, formatNumber, logit } from "./numbers.js";
import {
  createPlot, drawArea, drawBottomAxis, drawLeftAxis, drawLine, drawMessage, fitLeft, textWidth, writeText,
  writeWithin,
} from "./plot.js";
import { connectHover } from "./pointing.js";
import { countScale, linearScale, niceTicks, tickText, tickTexts } from "./scales.js";
import { shuffledDistribution } from "./shuffled.js";

/** @import { BinChart, Context, Distribution, DistributionChart, Ends, SeenDistribution, Solution } from "./types.js" */

const WIDE_DISTRIBUTION = 60;

/** Distribution of the number of false positives in the list, its 90% interval, mean and the number under the global null. */
export function createFalsePositivePlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 66, right: 16, bottom: 44, left: 46 } });
  const chart = /** @type {DistributionChart} */ ({ plot, context });
  connectHover(plot, (x, y) => hoverFalsePositives(chart, x, y));
  return {
    plot,
    update: (view) => { chart.view = view; paintFalsePositivePlot(chart); },
    redraw: () => { plot.measure(); paintFalsePositivePlot(chart); },
  };
}

/** Part of a distribution that can be seen: from the first to the last probability over a ten-thousandth of the largest. */
function visibleDistribution(/** @type {Distribution} */ { lowest, pmf }) {
  let largest = 0;
  for (let k = 0; k < pmf.length; k += 1) largest = Math.max(largest, pmf[k]);
  let [first, last] = [0, pmf.length - 1];
  while (first < last && pmf[first] < largest * 1e-4) first += 1;
  while (last > first && pmf[last] < largest * 1e-4) last -= 1;
  return { from: lowest + first, to: lowest + last, largest, at: (count) => pmf[count - lowest] || 0 };
}

/** Paint the distribution. */
function paintFalsePositivePlot(/** @type {DistributionChart} */ chart) {
  const { plot, view } = chart;
  if (!view || !plot.begin()) return;
  const { solution } = view;
  if (!solution.size) {
    drawMessage(plot, "The list is empty: it holds no false positives.");
    plot.describe("Distribution of the number of false positives: the list is empty.");
    chart.seen = null;
    return;
  }
  const { estimate } = solution;
  const distribution = estimate ? shuffledDistribution(estimate) : view.distribution();
  const seen = visibleDistribution(distribution);
  chart.seen = seen;
  const ends = falsePositiveEnds(seen, solution);
  chart.y = linearScale([0, seen.largest * 1.06], [plot.box.bottom, plot.box.top]);
  const heights = niceTicks(0, seen.largest * 1.06, 4);
  fitLeft(plot, tickTexts(heights));
  chart.x = linearScale([ends[0] - 0.6, ends[1] + 0.6], [plot.box.left, plot.box.right]);
  const counts = niceTicks(...ends, plot.compact ? 5 : 8).filter(Number.isInteger);
  drawLeftAxis(plot, chart.y, { ticks: heights, title: "probability" });
  const texts = counts.map((tick) => tickText(tick));
  drawBottomAxis(plot, chart.x, { ticks: counts, texts, title: "false positives in the list", grid: false });
  drawDistributionBars(chart, distribution, seen);
  drawDistributionLabels(chart, distribution, solution);
  const { underNull } = solution;
  const atNull = underNull === null ? "" : ` ${formatUnderNull(underNull, chart.context.payload, "fewer than ")} expected under the global null.`;
  plot.describe(`Distribution of the number of false positives in the list: ${formatNumber(expectedOf(solution), 3)} expected, `
    + `90% interval ${formatCount(distribution.low)} to ${formatCount(distribution.high)}.${atNull}`);
}

/** Expected false positives: from shuffled labels if there are any. */
function expectedOf(/** @type {Solution} */ { estimate, expectedFalse }) {
  return estimate ? estimate.expected : expectedFalse;
}

/** Ends of the counts drawn: the distribution and, if it is not far away, the number under the global null. */
function falsePositiveEnds(/** @type {SeenDistribution} */ seen, /** @type {Solution} */ { underNull }) {
  const span = Math.max(4, seen.to - seen.from);
  let [low, high] = [seen.from, Math.max(seen.to, seen.from + 3)];
  if (underNull !== null && Number.isFinite(underNull)) {
    if (underNull > high && underNull < high + span) high = Math.ceil(underNull);
    if (underNull < low && underNull > low - span) low = Math.floor(underNull);
  }
  return low < span ? [0, high] : [low, high];
}

/** Bars, or an area if they would be too thin; inside the 90% interval in full colour. */
function drawDistributionBars(/** @type {DistributionChart} */ chart, /** @type {Ends} */ distribution, /** @type {SeenDistribution} */ seen) {
  const { plot } = chart;
  const { palette, box, ctx } = plot;
  if (seen.to - seen.from > WIDE_DISTRIBUTION) {
    const area = (from, to) => {
      const points = [];
      const step = Math.max(1, Math.floor((to - from) / 500));
      for (let count = from; count <= to; count += step) points.push([chart.x(count), chart.y(seen.at(count))]);
      return points;
    };
    drawArea(plot, area(seen.from, seen.to), box.bottom, palette.false, 0.3);
    drawArea(plot, area(Math.max(distribution.low, seen.from), Math.min(distribution.high, seen.to)), box.bottom, palette.false, 0.65);
    return;
  }
  const width = Math.max(1.5, (chart.x(1) - chart.x(0)) * 0.78);
  const thin = Math.min(width, 56);
  ctx.fillStyle = palette.false;
  for (let count = seen.from; count <= seen.to; count += 1) {
    ctx.globalAlpha = count >= distribution.low && count <= distribution.high ? 0.9 : 0.35;
    const top = chart.y(seen.at(count));
    ctx.fillRect(chart.x(count) - thin / 2, top, thin, box.bottom - top);
  }
  ctx.globalAlpha = 1;
}

/** Lines of the mean and of the number under the global null, the bracket of the interval, and their words above. */
function drawDistributionLabels(
  /** @type {DistributionChart} */ chart, /** @type {Ends} */ distribution, /** @type {Solution} */ solution,
) {
  const { plot } = chart;
  const { palette, box } = plot;
  const bracket = box.top + 4;
  const half = 0.4;
  const [low, high] = [chart.x(distribution.low - half), chart.x(distribution.high + half)];
  drawLine(plot, low, bracket, high, bracket, { colour: palette["ink-soft"], width: 1.25 });
  for (const end of [low, high]) {
    drawLine(plot, end, bracket - 3, end, bracket + 5, { colour: palette["ink-soft"], width: 1.25 });
  }
  const range = distribution.low === distribution.high ? formatCount(distribution.low) : `${formatCount(distribution.low)} to ${formatCount(distribution.high)}`;
  const style = { size: 11, colour: palette["ink-soft"], halo: true };
  writeWithin(plot, `90%: ${range}`, (low + high) / 2, bracket - 6, style);
  const mean = chart.x(expectedOf(solution));
  drawLine(plot, mean, bracket, mean, box.bottom, { colour: palette.ink, width: 1.75 });
  const key = 34;
  /** @type {{ text: string, dash: number[], width: number }[]} */
  const marks = [{ text: `expected ${formatNumber(expectedOf(solution), 3)}`, dash: [], width: 1.75 }];
  const { underNull } = solution;
  if (underNull !== null && Number.isFinite(underNull)) {
    const x = chart.x(underNull);
    const inside = x >= box.left && x <= box.right;
    if (inside) drawLine(plot, x, bracket, x, box.bottom, { colour: palette.ink, width: 1.25, dash: [4, 3] });
    const beyond = inside ? "" : x > box.right ? " \u2192" : " \u2190";
    marks.push({ text: `global null ${formatUnderNull(underNull, chart.context.payload)}${beyond}`, dash: [4, 3], width: 1.25 });
  }
  let x = 6;
  for (const { text, dash, width } of marks) {
    drawLine(plot, x, key - 4, x + 18, key - 4, { colour: palette.ink, width, dash });
    writeText(plot, text, x + 23, key, { size: 12 });
    x += 23 + textWidth(plot, text, 12) + 16;
  }
}

/** Probability of the count pointed at. */
function hoverFalsePositives(/** @type {DistributionChart} */ chart, x, y) {
  const { plot, seen, view } = chart;
  if (!seen || !view || x < plot.box.left || x > plot.box.right || y < plot.box.top) return null;
  const count = Math.max(0, Math.round(chart.x.invert(x)));
  const title = `${formatCount(count)} false positive${count === 1 ? "" : "s"}`;
  const lines = [title, `probability ${formatNumber(seen.at(count), 3)}`];
  return { x: chart.x(count), y: chart.y(seen.at(count)), lines };
}

const PROBABILITY_BINS = 20;

/** Histogram of the probabilities of being a marker; counts on a logarithmic axis. */
export function createProbabilityPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 30, right: 14, bottom: 44, left: 50 } });
  const chart = /** @type {BinChart} */ ({ plot, context });
  connectHover(plot, (x, y) => hoverProbability(chart, x, y));
  return {
    plot,
    update: (view) => { chart.view = view; paintProbabilityPlot(chart); },
    redraw: () => { plot.measure(); paintProbabilityPlot(chart); },
  };
}

/** Bins of the probabilities: features in each and how many of them are selected. */
function probabilityBins(live, size) {
  const countOver = (limit) => firstWhere(live.length, (i) => !(live[i] > limit));
  const bins = [];
  let over = live.length;
  for (let k = 0; k < PROBABILITY_BINS; k += 1) {
    const next = k === PROBABILITY_BINS - 1 ? 0 : countOver(logit((k + 1) / PROBABILITY_BINS));
    bins.push({ low: k / PROBABILITY_BINS, count: over - next, selected: Math.max(0, Math.min(over, size) - next) });
    over = next;
  }
  return bins;
}

/** Paint the histogram. */
function paintProbabilityPlot(/** @type {BinChart} */ chart) {
  const { plot, view, context } = chart;
  if (!view || !plot.begin()) return;
  const { box, palette, ctx } = plot;
  const { solution } = view;
  const live = context.evidence.logOdds(view.state);
  const bins = probabilityBins(live, solution.size);
  const most = Math.max(...bins.map((bin) => bin.count));
  chart.bins = bins;
  chart.x = linearScale([0, 1], [box.left, box.right]);
  chart.y = countScale([0, most * 1.5 + 1], [box.bottom, box.top]);
  const ticks = [0, 1, 10, 100, 1000, 1e4, 1e5, 1e6].filter((tick) => tick <= chart.y.domain[1]);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  drawLeftAxis(plot, chart.y, { ticks, texts: ticks.map((tick) => tickText(tick)), title: "features (logarithmic axis)" });
  drawBottomAxis(plot, chart.x, { ticks: shares, title: "probability of being a marker", grid: false });
  const width = (box.right - box.left) / PROBABILITY_BINS;
  bins.forEach((bin, k) => {
    const left = box.left + k * width + 1;
    const [rest, top] = [chart.y(bin.count - bin.selected), chart.y(bin.count)];
    ctx.fillStyle = palette["scale-low"];
    ctx.fillRect(left, rest, width - 2, box.bottom - rest);
    ctx.fillStyle = palette.accent;
    ctx.fillRect(left, top, width - 2, rest - top);
    const text = formatCount(bin.count);
    if (bin.count && textWidth(plot, text, 11) < width + (bin.count === most ? 30 : plot.compact ? -2 : 4)) {
      writeWithin(plot, text, left + width / 2 - 1, top - 4, { size: 11, colour: palette["ink-soft"] });
    }
  });
  const last = bins[PROBABILITY_BINS - 1];
  const words = `${formatCount(solution.size)} selected`;
  writeText(plot, words, box.right, 13, { align: "right", bold: true, colour: palette.accent });
  plot.describe(`Histogram of probabilities in ${PROBABILITY_BINS} bins: ${formatCount(bins[0].count)} features `
    + `below 0.05, ${formatCount(last.count)} over 0.95; ${formatCount(solution.size)} are selected.`);
}

/** Count of the bin pointed at. */
function hoverProbability(/** @type {BinChart} */ chart, x, y) {
  const { plot, bins } = chart;
  if (!bins || x < plot.box.left || x >= plot.box.right || y < plot.box.top || y > plot.box.bottom) return null;
  const bin = bins[Math.min(PROBABILITY_BINS - 1, Math.floor(chart.x.invert(x) * PROBABILITY_BINS))];
  const span = `${bin.low.toFixed(2)} to ${(bin.low + 1 / PROBABILITY_BINS).toFixed(2)}`;
  const lines = [`Probability ${span}`, `${formatCount(bin.count)} features`, `${formatCount(bin.selected)} selected`];
  return { x, y, lines };
}
