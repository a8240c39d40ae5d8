// @ts-check

import { formatCompact, formatCount, formatNumber } from "./numbers.js";
import {
  createPlot, drawArea, drawBottomAxis, drawDot, drawLeftAxis, drawLine, drawPath, fitLeft, ringAt, textWidth,
  writeText,
} from "./plot.js";
import { connectFeatures } from "./pointing.js";
import {
  linearScale, logScale, logTicks, niceTicks, spacedTicks, symlogScale, tickText, tickTexts,
} from "./scales.js";
import { openedPosition } from "./state.js";

/** @import { Context, RankChart, RankedChart, Solution } from "./types.js" */

const DOT_ROOM = 9; // pixels between points that are drawn one by one: their rims must not hide the line
const RANK_BEND = 5; // log-odds within about this of 0 are drawn to scale

/** Log-odds against rank (logarithmic), with the cut and the selected part in colour. */
export function createRankPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { role: "application", margin: { top: 30, right: 16, bottom: 44, left: 46 } });
  plot.canvas.setAttribute("aria-roledescription", "chart");
  const chart = /** @type {RankChart} */ ({ plot, context, marked: -1, live: null });
  const locate = (position) => locateRank(chart, position);
  connectFeatures(plot, context, {
    nearest: (x, y) => nearestRank(chart, x, y),
    locate,
    mark: (position) => { chart.marked = position; paintRankPlot(chart); },
    count: () => context.payload.n_detailed,
    opened: () => openedPosition(chart.view),
  });
  return {
    plot,
    update: (view) => { chart.view = view; paintRankPlot(chart); },
    redraw: () => { plot.measure(); paintRankPlot(chart); },
  };
}

/**
 * Place of a rank position; null if its log-odds are not finite.
 * @returns {[number, number] | null}
 */
function locateRank(/** @type {RankChart} */ chart, position) {
  if (!chart.live || !chart.x || !Number.isFinite(chart.live[position])) return null;
  return [chart.x(position + 1), chart.y(chart.live[position])];
}

/** Rank position under the pointer, if the pointer is near the curve. */
function nearestRank(/** @type {RankChart} */ chart, x, y) {
  if (!chart.x) return -1;
  const last = chart.context.payload.n_detailed - 1;
  const position = Math.max(0, Math.min(last, Math.round(chart.x.invert(x)) - 1));
  const place = locateRank(chart, position);
  return place && Math.hypot(place[0] - x, place[1] - y) < 40 ? position : -1;
}

/** Ends of the log-odds drawn: all finite ones and the cut. */
function rankDomain(live, cut) {
  let [first, last] = [0, live.length - 1];
  while (first < last && !Number.isFinite(live[first])) first += 1;
  while (last > first && !Number.isFinite(live[last])) last -= 1;
  let [high, low] = [live[first], live[last]];
  if (!Number.isFinite(high)) [high, low] = [1, -1];
  if (Number.isFinite(cut) && Math.abs(cut) < 1e4) [high, low] = [Math.max(high, cut), Math.min(low, cut)];
  const room = (high - low || 1) * 0.04;
  if (!(high - low > 60)) return [low - room, high + room];
  const [foot, top] = [Math.asinh(low / RANK_BEND), Math.asinh(high / RANK_BEND)]; // room as it looks on a bent scale
  return [foot - 0.04 * (top - foot), top + 0.04 * (top - foot)].map((end) => RANK_BEND * Math.sinh(end));
}

/** Positions to draw: all of the first 50, then evenly on the logarithm of the rank. */
export function rankPositions(/** @type {RankedChart} */ chart, n, width) {
  if (chart.positions && chart.positionsFor === n * 4096 + width) return chart.positions;
  const positions = [];
  const steps = Math.max(150, Math.min(700, Math.round(width)));
  let last = -1;
  for (let k = 0; k <= steps; k += 1) {
    const position = Math.round(n ** (k / steps)) - 1;
    if (position > last) positions.push(position);
    last = Math.max(last, position);
  }
  chart.positions = positions;
  chart.positionsFor = n * 4096 + width;
  return positions;
}

/** Paint the chart. */
function paintRankPlot(/** @type {RankChart} */ chart) {
  const { plot, context, view } = chart;
  if (!view || !plot.begin()) return;
  const { box } = plot;
  const { solution } = view;
  const live = context.evidence.logOdds(view.state);
  const n = live.length;
  chart.live = live;
  const domain = rankDomain(live, solution.cut);
  const bent = domain[1] - domain[0] > 60;
  chart.y = bent ? symlogScale(domain, [box.bottom, box.top], RANK_BEND) : linearScale(domain, [box.bottom, box.top]);
  const ticks = bent ? spacedTicks(chart.y, 24) : niceTicks(...domain, 6);
  fitLeft(plot, tickTexts(ticks));
  chart.x = logScale([1, Math.max(2, n)], [box.left + 4, box.right - 4]);
  drawLeftAxis(plot, chart.y, { ticks, title: bent ? "log-odds (scale bent away from 0)" : "log-odds" });
  const ranks = logTicks(chart.x.domain);
  const texts = ranks.map((tick) => tickText(tick));
  drawBottomAxis(plot, chart.x, { ticks: ranks, texts, title: "rank (logarithmic)", grid: false });
  drawRankCurve(chart, live, solution);
  drawRankCut(chart, solution);
  drawRankMarks(chart);
  plot.describe(`Log-odds by rank. ${formatCount(solution.size)} of ${formatCount(n)} features lie over the cut at `
    + `log-odds ${formatNumber(solution.cut, 3)}; the strongest has ${formatNumber(live[0], 3)}. `
    + "Arrow keys walk through the features by rank, Home and End go to the ends, Enter opens one.");
}

/** The curve; its selected part filled down to the cut, with points as long as they can be told apart. */
function drawRankCurve(/** @type {RankChart} */ chart, live, /** @type {Solution} */ { size, cut }) {
  const { plot } = chart;
  const { palette, box } = plot;
  /** @type {(position: number) => [number, number]} */
  const place = (position) => {
    const y = chart.y(live[position]);
    return [chart.x(position + 1), Math.max(box.top, Math.min(box.bottom, y))];
  };
  const positions = rankPositions(chart, live.length, Math.round(box.right - box.left));
  const over = positions.filter((position) => position < size);
  if (size && over[over.length - 1] !== size - 1) over.push(size - 1);
  const under = positions.filter((position) => position >= size - 1);
  drawPath(plot, under.map(place), { colour: palette["scale-low"], width: 2 });
  if (!size) return;
  const line = over.map(place);
  const base = Math.max(box.top, Math.min(box.bottom, Number.isFinite(cut) ? chart.y(cut) : box.bottom));
  drawArea(plot, line, base, palette["accent-soft"], 0.55);
  drawPath(plot, line, { colour: palette.accent, width: 2 });
  for (let k = 0; k < line.length && gapAfter(line, k) > DOT_ROOM; k += 1) drawDot(plot, ...line[k], palette.accent, 3.2);
}

/** Distance of a point of a line to the next one, or to the one before. */
function gapAfter(/** @type {[number, number][]} */ line, k) {
  const other = line[k + 1] || line[k - 1];
  return other ? Math.hypot(other[0] - line[k][0], other[1] - line[k][1]) : Number.POSITIVE_INFINITY;
}

/** The cut as a line with its value and the length of the list. */
function drawRankCut(/** @type {RankChart} */ chart, /** @type {Solution} */ { size, cut }) {
  const { plot } = chart;
  const { box, palette } = plot;
  const height = chart.y(cut);
  const text = `${formatCount(size)} selected`;
  const foot = Number.isFinite(height) && height > box.top && height < box.bottom;
  if (foot) drawLine(plot, box.left, height, box.right, height, { colour: palette.ink, width: 1, dash: [5, 4] });
  const label = foot ? `cut at ${formatCompact(cut, 3)}: ${text}` : text;
  const crossed = box.right - 8 - textWidth(plot, label, 11.5, true) < chart.x(Math.max(1, size));
  if (foot && crossed && height + 18 < box.bottom) {
    writeText(plot, label, box.left + 4, height + 15, { bold: true, halo: true });
  } else {
    const y = !foot || crossed ? box.top + 12 : height > box.top + 22 ? height - 7 : height + 15;
    writeText(plot, label, box.right - 2, y, { align: "right", bold: true, halo: true });
  }
  if (size) {
    const x = chart.x(size);
    drawLine(plot, x, foot ? height : box.top, x, box.bottom, { colour: palette["ink-soft"], dash: [2, 3] });
  }
}

/** The open feature and the one pointed at. */
function drawRankMarks(/** @type {RankChart} */ chart) {
  const { plot, view, marked } = chart;
  for (const position of new Set([view.state.feature, marked])) {
    const place = position !== null && position >= 0 ? locateRank(chart, position) : null;
    if (!place) continue;
    ringAt(plot, ...place, 7, plot.palette.back, 4);
    ringAt(plot, ...place, 7, plot.palette.ink, 1.75);
  }
}
