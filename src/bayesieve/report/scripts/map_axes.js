// @ts-check
// What the map shows: effects, the volcano, or ranks by another method.

import { contourLevel, contourLines } from "./contour.js";
import { areaUnderCurve } from "./other_ranks.js";
import { decodedOnce } from "./numbers.js";
import { drawLine, writeText } from "./plot.js";

/** @import { Context, EffectMap, MapAxes, Payload, Plot } from "./types.js" */

/** The axes on offer, the first of them the report's own. */
export function axesOffered(/** @type {Context} */ context) {
  const { payload } = context;
  const { effect, agreement, columns, classes } = payload;
  /** @type {MapAxes[]} */
  const found = [];
  if (!effect) return found;
  const x = decodedOnce(effect.x);
  found.push({
    key: "effect", title: effect.y ? "effect map" : "volcano", x: () => x, y: effect.y ? () => decodedOnce(effect.y) : null,
    xTitle: effect.x_title, yTitle: effect.y_title || "log-odds", ranks: false,
  });
  if (effect.y) {
    const difference = columns.find((column) => column.key === "mean_difference" && !column.annotation);
    const named = classes.length === 2 ? `mean difference, ${classes[1]} minus ${classes[0]}` : effect.x_title;
    found.push({
      key: "volcano", title: "volcano", x: () => (difference ? decodedOnce(difference.values) : x), y: null,
      xTitle: difference ? named : effect.x_title, yTitle: "log-odds of being a marker", ranks: false,
    });
  }
  for (const { key, title, minus_log10_p: places } of agreement ?? []) {
    if (!places) continue;
    const difference = columns.find((column) => column.key === "mean_difference" && !column.annotation);
    found.push({
      key: `${key}-p`, title: `volcano: p-value, ${title}`, x: () => (difference ? decodedOnce(difference.values) : x),
      y: () => decodedOnce(places), xTitle: difference ? `mean difference, ${classes[1]} minus ${classes[0]}` : effect.x_title,
      yTitle: `\u2212log10 p of ${title}`, ranks: false,
    });
  }
  const here = () => Float32Array.from(x, (_, i) => i + 1);
  for (const { key, title, rank } of agreement ?? []) {
    found.push({
      key, title: `ranks: ${title}`, x: here, y: () => filledTo(decodedOnce(rank), x.length), xTitle: "rank here",
      yTitle: `rank by ${title}`, ranks: true,
    });
  }
  if (payload.values && classes.length === 2 && !payload.paired) {
    found.push({
      key: "auc", title: "ranks: area under the curve", x: here, y: () => ranksOfArea(payload, x.length),
      xTitle: "rank here", yTitle: `rank by area under the ROC curve, of the ${payload.values.n} features with values`,
      ranks: true,
    });
  }
  return found;
}

/** Put the name of the axes over the map, with its explanation. */
export function titleMap(/** @type {MapAxes} */ { key, title }) {
  const word = /** @type {HTMLElement | null} */ (document.querySelector("#map-title .term"));
  if (!word) return;
  const about = key === "auc" ? "auc" : key === "effect" || key === "volcano" ? "effect" : "p-value";
  word.textContent = title.charAt(0).toUpperCase() + title.slice(1);
  word.dataset.term = about;
  word.setAttribute("href", `#term-${about}`);
  word.setAttribute("aria-describedby", `term-${about}`);
}

/** Numbers of the strongest features; not-a-number for the others. */
function filledTo(numbers, n) {
  const all = new Float32Array(n).fill(NaN);
  all.set(numbers.subarray(0, n));
  return all;
}

/** Ranks by how far the area under the ROC curve lies from a half, among the features whose values are there. */
function ranksOfArea(/** @type {Payload} */ payload, n) {
  const ranks = new Float32Array(n).fill(NaN);
  const far = Array.from({ length: payload.values?.n ?? 0 }, (_, i) => Math.abs((areaUnderCurve(payload, i) ?? 0.5) - 0.5));
  far.map((_, i) => i).sort((a, b) => far[b] - far[a] || a - b).forEach((i, rank) => { ranks[i] = rank + 1; });
  return ranks;
}

/** The cut: a contour on the effect map, a diagonal where ranks are compared. */
export function drawMapGuides(/** @type {EffectMap} */ map) {
  const { plot, xScale, yScale, axes, context, view } = map;
  const { box, palette } = plot;
  if (axes.ranks) {
    const ends = [Math.max(xScale.domain[0], yScale.domain[0]), Math.min(xScale.domain[1], yScale.domain[1])];
    if (ends[1] > ends[0]) drawLine(plot, xScale(ends[0]), yScale(ends[0]), xScale(ends[1]), yScale(ends[1]), { dash: [4, 4] });
    return;
  }
  const { surface } = context.payload;
  const level = contourLevel(view);
  if (axes.key !== "effect" || !axes.y || !surface || level === null) return;
  const lines = contourLines(surface, level, /** @type {[number, number]} */ (yScale.domain));
  let label = /** @type {number[] | null} */ (null);
  plot.ctx.save();
  plot.ctx.beginPath();
  plot.ctx.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  plot.ctx.clip();
  plot.ctx.beginPath();
  for (const line of lines) {
    const places = line.map(([x, y]) => [xScale(x), yScale(y)]);
    places.forEach(([x, y], k) => (k ? plot.ctx.lineTo(x, y) : plot.ctx.moveTo(x, y)));
    for (const [x, y] of places) {
      if (x > box.left + 4 && x < box.right - 110 && y > box.top && y < box.bottom - 6 && (!label || y > label[1])) label = [x, y];
    }
  }
  plot.ctx.lineWidth = 1.5;
  plot.ctx.strokeStyle = palette.accent;
  plot.ctx.stroke();
  plot.ctx.restore();
  const said = view.solution.cut === Infinity ? "probability one half" : "cut";
  if (label) paintContourLabel(plot, surface.kind === "grid" ? `${said}, median feature` : said, label);
}

/** The word at the contour. */
function paintContourLabel(/** @type {Plot} */ plot, text, /** @type {number[]} */ [x, y]) {
  writeText(plot, text, x + 5, Math.min(y, plot.box.bottom - 5), { size: 11, colour: plot.palette.accent, halo: true });
}
