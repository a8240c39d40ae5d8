// @ts-check
// Samples: principal components of the list, and how many features hang on each sample.

import { componentsOf, principalComponents, standardisedRows } from "./components.js";
import { sampleColour, sampleColumns, sampleText } from "./heatmap.js";
import { namesSamples } from "./feature_strip.js";
import { decodedOnce, formatCount, shorten, shownName } from "./numbers.js";
import { createPlot, drawBottomAxis, drawDot, drawLeftAxis, drawMessage, fitLeft, fitText, textWidth, writeText } from "./plot.js";
import { connectHover } from "./pointing.js";
import { finiteExtent, linearScale, niceTicks, percentText, tickTexts } from "./scales.js";

/** @import { ComponentsChart, Context, HangingChart, Payload, SampleColumn } from "./types.js" */

const COMPONENTS_PAUSE = 150; // milliseconds of rest before components of another list are worked out
const MOST_COMPONENT_VALUES = 1_000_000;
const HANGING_STEP = 22; // pixels of a bar at least

/** Samples by the first two principal components of the features of the list; a column of choice gives the colours. */
export function createComponentsPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 44, right: 16, bottom: 44, left: 40 } });
  const found = context.payload.sample_view?.components ?? null;
  const chart = /** @type {ComponentsChart} */ (/** @type {unknown} */ ({
    plot, context, columns: sampleColumns(context.payload), column: 0, dots: [],
    places: found && [decodedOnce(found.x), decodedOnce(found.y)], share: found?.share ?? [], n: found?.n ?? 0, timer: null,
  }));
  const choice = /** @type {HTMLSelectElement | null} */ (document.getElementById("components-colour"));
  if (choice) {
    choice.replaceChildren(...chart.columns.map((column, k) => new Option(shownName(shorten(column.title, 60)), String(k))));
    choice.addEventListener("change", () => { chart.column = Number(choice.value); paintComponents(chart); });
  }
  connectHover(plot, (x, y) => hoverSample(chart, x, y));
  return {
    plot,
    update: (view) => {
      const known = chart.view && plot.width > 0;
      chart.view = view;
      if (!known) paintComponents(chart);
      followList(chart);
    },
    redraw: () => { plot.measure(); paintComponents(chart); },
  };
}

/** Work out the components of the present list, once the controls have come to rest. */
function followList(/** @type {ComponentsChart} */ chart) {
  const { context, view } = chart;
  const { values } = context.payload;
  clearTimeout(chart.timer);
  tellComponents(chart);
  if (!values) return;
  const width = decodedOnce(values.class).length;
  const n = componentsOf(view.solution.size, values.n);
  if (n === chart.n || n * width > MOST_COMPONENT_VALUES) return;
  chart.timer = setTimeout(() => {
    const own = context.payload.sample_view?.components;
    const found = own && own.n === n
      ? { x: decodedOnce(own.x), y: decodedOnce(own.y), share: own.share }
      : principalComponents(standardisedRows(context.payload, n), n, width);
    Object.assign(chart, { n, places: found && [found.x, found.y], share: found?.share ?? [] });
    tellComponents(chart);
    paintComponents(chart);
  }, COMPONENTS_PAUSE);
}

/** Say which features the components are of. */
function tellComponents(/** @type {ComponentsChart} */ { n, view }) {
  const place = document.getElementById("components-shown");
  const { size } = view.solution;
  if (place && n) {
    place.textContent = n === size ? `the ${formatCount(n)} features of the list`
      : n < size ? `the ${formatCount(n)} strongest of ${formatCount(size)} listed features` : `the ${formatCount(n)} strongest features, listed or not,`;
  }
}

/** Paint the samples. */
function paintComponents(/** @type {ComponentsChart} */ chart) {
  const { plot, places, share, columns, n } = chart;
  if (!chart.view || !plot.begin()) return;
  chart.dots = [];
  if (!places) {
    drawMessage(plot, "There are too few features or samples for principal components.");
    plot.describe("Principal components: too few features or samples.");
    return;
  }
  const [x, y] = places.map((part) => {
    const [low, high] = finiteExtent(part) ?? [-1, 1];
    return [low - 0.06 * (high - low) - 1e-9, high + 0.06 * (high - low) + 1e-9];
  });
  const tall = linearScale(y, [plot.box.bottom, plot.box.top]);
  const ticks = niceTicks(y[0], y[1], 5);
  fitLeft(plot, tickTexts(ticks));
  const wide = linearScale(x, [plot.box.left, plot.box.right]);
  const title = (k) => `component ${k + 1} (${percentText(share[k], 0)} of the variance)`;
  drawBottomAxis(plot, wide, { ticks: niceTicks(x[0], x[1], 6), title: title(0) });
  drawLeftAxis(plot, tall, { ticks, title: title(1) });
  const column = columns[chart.column];
  places[0].forEach((value, sample) => {
    const dot = { x: wide(value), y: tall(places[1][sample]), sample };
    chart.dots.push(dot);
    drawDot(plot, dot.x, dot.y, sampleColour(plot, column, sample), places[0].length > 400 ? 3 : 4.5);
  });
  paintColumnKey(chart, column);
  plot.describe(`Principal components of the first ${formatCount(n)} features: ${formatCount(places[0].length)} samples, `
    + `coloured by ${shownName(column.title)}. The first two components hold ${percentText(share[0] + share[1], 0)} of the variance.`);
}

/** Levels of the column that gives the colours. */
function paintColumnKey(/** @type {ComponentsChart} */ { plot }, /** @type {SampleColumn} */ column) {
  if (column.kind !== "text") return;
  let x = plot.box.left;
  for (const level of column.levels.filter(String).slice(0, 8)) {
    const sample = column.codes.indexOf(column.levels.indexOf(level));
    const text = fitText(plot, shownName(level), 110, 11);
    const width = plot.ctx.measureText(text).width;
    if (x + width + 14 > plot.box.right) return;
    drawDot(plot, x + 5, plot.box.top - 14, sampleColour(plot, column, sample), 4.5);
    writeText(plot, text, x + 13, plot.box.top - 10, { size: 11 });
    x += width + 26;
  }
}

/** Sample pointed at. */
function hoverSample(/** @type {ComponentsChart} */ chart, x, y) {
  let [best, least] = [/** @type {ComponentsChart["dots"][0] | null} */ (null), 14 * 14];
  for (const dot of chart.dots) {
    const distance = (dot.x - x) ** 2 + (dot.y - y) ** 2;
    if (distance < least) [best, least] = [dot, distance];
  }
  if (!best) return null;
  const { sample } = best;
  const told = chart.columns.map((column) => `${shownName(column.title)}: ${shorten(sampleText(column, sample), 40)}`);
  const name = shownName(chart.context.payload.values?.samples[sample] ?? sample);
  return { x: best.x, y: best.y, lines: [`sample ${name}`, ...told] };
}

/** Number of the sample on which each feature leans most; -1 where it is not known, null if none is. */
export function culpritsOf(/** @type {Payload} */ payload) {
  const column = payload.columns.find((each) => each.key === "culprit" && !each.annotation);
  if (!column && payload.hanging) return /** @type {Int32Array} */ (decodedOnce(payload.hanging.culprit));
  const samples = payload.values?.samples;
  if (!column || !samples) return null;
  const places = new Map(samples.map((name, s) => [String(name), s]));
  if (!column.codes) return Int32Array.from(column.values, (name) => places.get(String(name)) ?? -1);
  const levels = (column.levels ?? []).map((name) => places.get(String(name)) ?? -1);
  return Int32Array.from(decodedOnce(column.codes), (code) => levels[code]);
}

/** Bars: how many features of the list would fall without each sample, the heaviest first. */
export function createHangingPlot(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { margin: { top: 26, right: 12, bottom: 8, left: 8 } });
  const chart = /** @type {HangingChart} */ (/** @type {unknown} */ ({
    plot, context, culprits: culpritsOf(context.payload), bars: [],
  }));
  connectHover(plot, (_, y) => hoverHanging(chart, y));
  return {
    plot,
    update: (view) => {
      const same = chart.view && chart.view.solution === view.solution && plot.width > 0;
      chart.view = view;
      if (!same) paintHanging(chart);
    },
    redraw: () => { plot.measure(); paintHanging(chart); },
  };
}

/** Samples with the number of listed features that hang on them, the most first; samples without any left out. */
export function hangingCounts(/** @type {Int32Array} */ culprits, isFragile, size) {
  const counts = new Map();
  for (let i = 0; i < Math.min(size, culprits.length); i += 1) {
    if (culprits[i] >= 0 && isFragile(i)) counts.set(culprits[i], (counts.get(culprits[i]) ?? 0) + 1);
  }
  return [...counts].map(([sample, count]) => ({ sample, count })).sort((a, b) => b.count - a.count || a.sample - b.sample);
}

/** Paint the bars. */
function paintHanging(/** @type {HangingChart} */ chart) {
  const { plot, context, culprits, view } = chart;
  if (!view || !plot.begin()) return;
  const { payload } = context;
  const flags = payload.hanging ? decodedOnce(payload.hanging.fragile) : null; // at the cut of the report
  const isFragile = context.isFragile ?? (flags ? (position) => flags[position] > 0 : null);
  chart.bars = [];
  if (!culprits || !isFragile) {
    drawMessage(plot, "Which samples the list hangs on was not worked out; screen with fragility to see it.");
    plot.describe("Features that hang on single samples: not worked out.");
    return;
  }
  const ofTheReport = !context.isFragile && view.solution.size !== context.storedSize; // known of its own list only
  const size = ofTheReport ? context.storedSize : view.solution.size;
  const found = hangingCounts(culprits, isFragile, size);
  const total = found.reduce((sum, { count }) => sum + count, 0);
  if (!found.length) {
    drawMessage(plot, "No feature of the list hangs on a single sample.");
    plot.describe("No feature of the list hangs on a single sample.");
    return;
  }
  const samples = payload.values?.samples ?? [];
  const shown = found.slice(0, Math.max(3, Math.floor((plot.box.bottom - plot.box.top) / HANGING_STEP)));
  const step = Math.min(34, (plot.box.bottom - plot.box.top) / shown.length);
  const names = shown.map(({ sample }) => fitText(plot, shownName(samples[sample]), plot.width * 0.34, 11.5));
  const left = Math.max(...names.map((name) => textWidth(plot, name))) + 14;
  const wide = linearScale([0, found[0].count], [left, plot.box.right - 34]);
  const more = found.length > shown.length ? `; ${formatCount(found.length - shown.length)} more samples with fewer` : "";
  const whose = ofTheReport ? " of the report’s list" : "";
  const head = `${formatCount(total)} of ${formatCount(size)} features${whose} hang on one sample${namesSamples(payload) ? "" : " (counted from 0)"}${more}`;
  writeText(plot, fitText(plot, head, plot.width - 8), 4, 13);
  const owner = decodedOnce(payload.values?.class);
  shown.forEach(({ sample, count }, k) => {
    const bar = { y: plot.box.top + k * step, height: step, x: wide(count), sample, count };
    chart.bars.push(bar);
    plot.ctx.fillStyle = plot.palette[`class-${owner[sample] % 8}`];
    plot.ctx.fillRect(left, bar.y + 2, Math.max(1, bar.x - left), step - 4);
    writeText(plot, names[k], left - 6, bar.y + step / 2, { align: "right", baseline: "middle" });
    writeText(plot, formatCount(count), bar.x + 5, bar.y + step / 2, { baseline: "middle", colour: plot.palette["ink-soft"] });
  });
  plot.describe(`${formatCount(total)} of ${formatCount(size)} features of the ${ofTheReport ? "report’s " : ""}list would fall without one sample. `
    + `Most hang on ${found.slice(0, 3).map(({ sample, count }) => `${shownName(samples[sample])} (${formatCount(count)})`).join(", ")}.`);
}

/** Bar pointed at. */
function hoverHanging(/** @type {HangingChart} */ chart, y) {
  const bar = chart.bars.find((each) => y >= each.y && y < each.y + each.height);
  if (!bar) return null;
  const { payload } = chart.context;
  const name = shownName(payload.values?.samples[bar.sample] ?? bar.sample);
  const lines = [`sample ${name}`, shownName(payload.classes[decodedOnce(payload.values?.class)[bar.sample]])];
  lines.push(`${formatCount(bar.count)} feature${bar.count === 1 ? "" : "s"} of the list would fall without it`);
  return { x: bar.x, y: bar.y + bar.height / 2, lines };
}
