// @ts-check

import { formatCount, formatNumber } from "./numbers.js";
import {
  createPlot, drawArea, drawBottomAxis, drawDot, drawLeftAxis, drawLine, drawPath, fitLeft, textWidth, writeText,
  writeWithin,
} from "./plot.js";
import { connectHover } from "./pointing.js";
import { rankPositions } from "./rank_plot.js";
import {
  lastAtMost, linearScale, logScale, logTicks, niceDomain, niceTicks, percentText, tickText, tickTexts,
} from "./scales.js";

/** @import { Context, RankedChart, Solution, TextStyle } from "./types.js" */

/** Expected true against expected false positives along the ranking, with the place of the list. */
export function createRocPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 30, right: 20, bottom: 44, left: 46 } });
  const chart = /** @type {RankedChart} */ ({ plot, context });
  connectHover(plot, (x) => hoverRoc(chart, x));
  return {
    plot,
    update: (view) => { chart.view = view; paintRocPlot(chart); },
    redraw: () => { plot.measure(); paintRocPlot(chart); },
  };
}

/** Largest expected number of false positives worth showing. */
function rocReach(/** @type {Solution} */ { size, cumulativeFalse, cumulativeTrue }, n) {
  const total = cumulativeTrue[n];
  const atShare = (share) => cumulativeFalse[Math.min(n, lastAtMost(cumulativeTrue, share * total, n) + 1)];
  const reach = Math.max(3 * cumulativeFalse[size], atShare(0.6));
  return Math.max(cumulativeFalse[size] * 1.05, Math.min(reach, atShare(0.999)), 1e-6);
}

/** List lengths at which the curve is drawn: even in both directions, and the list's own. */
function rocLengths(/** @type {Solution} */ solution, n, reach) {
  const { size, cumulativeFalse, cumulativeTrue } = solution;
  const lengths = new Set([0, size]);
  const last = Math.min(n, lastAtMost(cumulativeFalse, reach, n) + 1);
  for (let k = 0; k <= 200; k += 1) {
    lengths.add(Math.max(0, Math.min(last, lastAtMost(cumulativeFalse, (reach * k) / 200, n))));
    lengths.add(Math.max(0, Math.min(last, lastAtMost(cumulativeTrue, (cumulativeTrue[last] * k) / 200, n))));
  }
  lengths.add(last);
  return [...lengths].sort((a, b) => a - b);
}

/** Paint the expected ROC. */
function paintRocPlot(/** @type {RankedChart} */ chart) {
  const { plot, view } = chart;
  if (!view || !plot.begin()) return;
  const { box, palette, ctx } = plot;
  const { solution } = view;
  const n = solution.cumulativeFalse.length - 1;
  const [wide, total] = [rocReach(solution, n), solution.cumulativeTrue[n]];
  const reach = niceDomain(0, wide, 5)[1];
  chart.y = linearScale([0, niceDomain(0, Math.max(total * 1.1, 1e-6), 5)[1]], [box.bottom, box.top]);
  const heights = niceTicks(...chart.y.domain, 5);
  fitLeft(plot, tickTexts(heights));
  chart.x = linearScale([0, reach], [box.left, box.right]);
  drawLeftAxis(plot, chart.y, { ticks: heights, title: "expected true positives" });
  const ticks = niceTicks(0, reach, plot.compact ? 4 : 6);
  drawBottomAxis(plot, chart.x, { ticks, title: "expected false positives", grid: false });
  const height = chart.y(total);
  drawLine(plot, box.left, height, box.right, height, { colour: palette["ink-soft"], dash: [2, 3] });
  /** @type {TextStyle} */
  const style = { align: "right", size: 11, colour: palette["ink-soft"], halo: true };
  writeText(plot, `all expected markers: ${formatNumber(total, 3)}`, box.right, height - 5, style);
  const points = rocLengths(solution, n, reach).map((k) => {
    return [chart.x(solution.cumulativeFalse[k]), chart.y(solution.cumulativeTrue[k])];
  });
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left - 2, box.top - 2, box.right - box.left + 4, box.bottom - box.top + 4);
  ctx.clip();
  drawArea(plot, points, box.bottom, palette["accent-soft"], 0.35);
  drawPath(plot, points, { colour: palette.accent, width: 2.25 });
  ctx.restore();
  drawRocPlace(chart, solution);
}

/** The list as a dot with guide lines and its numbers. */
function drawRocPlace(
  /** @type {RankedChart} */ chart, /** @type {Solution} */ { size, expectedTrue, expectedFalse, expectedMarkers },
) {
  const { plot } = chart;
  const { box, palette } = plot;
  const [x, y] = [chart.x(expectedFalse), chart.y(expectedTrue)];
  drawLine(plot, x, y, x, box.bottom, { colour: palette["ink-soft"], dash: [4, 3] });
  drawLine(plot, box.left, y, x, y, { colour: palette["ink-soft"], dash: [4, 3] });
  drawDot(plot, x, y, palette.accent, 6);
  const text = `${formatNumber(expectedTrue, 3)} true, ${formatNumber(expectedFalse, 3)} false`;
  const half = textWidth(plot, text, 12, true) / 2 + 12;
  const right = x + 2 * half - 12 <= box.right;
  const below = y + 20 < box.bottom ? y + 20 : y - 12;
  writeWithin(plot, text, right ? x + half : x - half, below, { bold: true, size: 12, halo: true });
  plot.describe(`Expected ROC. A list of ${formatCount(size)} features is expected to hold `
    + `${formatNumber(expectedTrue, 3)} true and ${formatNumber(expectedFalse, 3)} false positives`
    + `, out of ${formatNumber(expectedMarkers, 3)} markers `
    + "expected among all features.");
}

/** What a list would hold at the number of false positives pointed at. */
function hoverRoc(/** @type {RankedChart} */ chart, x) {
  const { plot, view } = chart;
  if (!view || !chart.x || x < plot.box.left || x > plot.box.right) return null;
  const { cumulativeFalse, cumulativeTrue } = view.solution;
  const k = Math.max(0, lastAtMost(cumulativeFalse, chart.x.invert(x), cumulativeFalse.length - 1));
  const lines = [
    `List of ${formatCount(k)}`, `${formatNumber(cumulativeTrue[k], 3)} expected true`,
    `${formatNumber(cumulativeFalse[k], 3)} expected false`,
  ];
  return { x: chart.x(cumulativeFalse[k]), y: chart.y(cumulativeTrue[k]), lines };
}

/** Expected false-discovery rate and share of markers missed against the length of the list. */
export function createDiscoveryPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 30, right: 20, bottom: 44, left: 46 } });
  const chart = /** @type {RankedChart} */ ({ plot, context });
  connectHover(plot, (x) => hoverDiscovery(chart, x));
  return {
    plot,
    update: (view) => { chart.view = view; paintDiscoveryPlot(chart); },
    redraw: () => { plot.measure(); paintDiscoveryPlot(chart); },
  };
}

/** Share of a list that is expected to be false, and share of markers expected to be missed by it. */
function discoveryShares(/** @type {Solution} */ { cumulativeFalse, cumulativeTrue }, length) {
  const total = cumulativeTrue[cumulativeTrue.length - 1];
  return {
    wrong: length ? cumulativeFalse[length] / length : 0,
    missed: total > 0 ? Math.max(0, 1 - cumulativeTrue[length] / total) : 0,
  };
}

/** Paint the two curves. */
function paintDiscoveryPlot(/** @type {RankedChart} */ chart) {
  const { plot, view } = chart;
  if (!view || !plot.begin()) return;
  const { box, palette } = plot;
  const { solution } = view;
  const n = solution.cumulativeFalse.length - 1;
  chart.x = logScale([1, Math.max(2, n)], [box.left + 4, box.right - 4]);
  chart.y = linearScale([0, 1], [box.bottom, box.top]);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const lengths = logTicks(chart.x.domain);
  const percents = shares.map((share) => percentText(share));
  drawLeftAxis(plot, chart.y, { ticks: shares, texts: percents, title: "expected share" });
  const title = "length of the list (logarithmic)";
  drawBottomAxis(plot, chart.x, { ticks: lengths, texts: lengths.map((tick) => tickText(tick)), title, grid: false });
  const positions = rankPositions(chart, n, Math.round((box.right - box.left) / 2));
  const values = positions.map((position) => discoveryShares(solution, position + 1));
  const curve = (key) => positions.map((position, k) => [chart.x(position + 1), chart.y(values[k][key])]);
  drawPath(plot, curve("missed"), { colour: palette["ink-soft"], width: 2, dash: [6, 3] });
  drawPath(plot, curve("wrong"), { colour: palette.false, width: 2.25 });
  drawDiscoveryPlace(chart, solution);
}

/** The list on both curves, with the numbers beside the dots. */
function drawDiscoveryPlace(/** @type {RankedChart} */ chart, /** @type {Solution} */ solution) {
  const { plot } = chart;
  const { box, palette } = plot;
  const { size } = solution;
  const { wrong, missed } = discoveryShares(solution, size);
  const x = chart.x(Math.max(1, size));
  drawLine(plot, x, box.top, x, box.bottom, { colour: palette["ink-soft"], dash: [2, 3] });
  const texts = [`${percentText(wrong, 1)} of the list false`, `${percentText(missed, 1)} of markers missed`];
  const heights = [chart.y(wrong), chart.y(missed)];
  const widest = Math.max(...texts.map((text) => textWidth(plot, text, 12, true)));
  const left = x - 12 - widest >= box.left || x - box.left > box.right - x;
  const beside = heights.map((height) => (height < box.top + 22 ? height + 18 : height - 10));
  const places = apart(beside, 17, box.top + 10, box.bottom - 5);
  [palette.false, palette["ink-soft"]].forEach((colour, k) => {
    if (!size && !k) return;
    drawDot(plot, x, heights[k], colour, 5);
    const half = textWidth(plot, texts[k], 12, true) / 2 + 10;
    const style = { bold: true, size: 12, halo: true, colour: k ? palette.ink : colour };
    writeWithin(plot, texts[k], left ? x - half : x + half, places[k], style, box.left, plot.width - 4);
  });
  plot.describe(`Expected errors by length of the list. Of the ${formatCount(size)} features listed `
    + `${percentText(wrong, 1)} are expected to be false, and ${percentText(missed, 1)} of the markers `
    + "are expected to be missed.");
}

/** Two heights moved apart where they are too near each other, kept between two ends. */
function apart(heights, gap, low, high) {
  let [a, b] = heights.map((height) => Math.max(low, Math.min(high, height)));
  if (Math.abs(a - b) < gap) {
    const middle = Math.max(low + gap / 2, Math.min(high - gap / 2, (a + b) / 2));
    [a, b] = a <= b ? [middle - gap / 2, middle + gap / 2] : [middle + gap / 2, middle - gap / 2];
  }
  return [a, b];
}

/** Both shares at the length pointed at. */
function hoverDiscovery(/** @type {RankedChart} */ chart, x) {
  const { plot, view } = chart;
  if (!view || !chart.x || x < plot.box.left || x > plot.box.right) return null;
  const n = view.solution.cumulativeFalse.length - 1;
  const length = Math.max(1, Math.min(n, Math.round(chart.x.invert(x))));
  const { wrong, missed } = discoveryShares(view.solution, length);
  const lines = [
    `List of ${formatCount(length)}`, `${percentText(wrong, 1)} expected false`,
    `${percentText(missed, 1)} of markers missed`,
  ];
  return { x: chart.x(length), y: chart.y(wrong), lines };
}
