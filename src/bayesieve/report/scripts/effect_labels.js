// @ts-check

import { placeLabels } from "./label_places.js";
import { formatCompact, formatCount, formatNumber, shownName } from "./numbers.js";
import { contextOf, drawLine, fitText, ringAt, textWidth, writeText, writeWithin } from "./plot.js";

/** @import { Box } from "./label_places.js" */
/** @import { EffectMap, Plot } from "./types.js" */

const EFFECT_REACH = 12;
const LABEL_HEIGHT = 14;
const MARKS_KEPT_FREE = 400;

/** Names of the open, the marked and the strongest features, where they overlap nothing. */
export function drawEffectNames(/** @type {EffectMap} */ map) {
  const { plot, view } = map;
  const special = [view.state.feature ?? -1, map.marked].filter((position, k, all) => {
    return position >= 0 && all.indexOf(position) === k && locateEffect(map, position);
  });
  for (const position of special) {
    const [x, y] = /** @type {[number, number]} */ (locateEffect(map, position));
    ringAt(plot, x, y, map.radius + 6, plot.palette.back, 4);
    ringAt(plot, x, y, map.radius + 6, plot.palette.ink, 1.75);
  }
  const wanted = Math.min(map.size, plot.compact ? 5 : 8);
  const strongest = Array.from({ length: Math.min(map.size, 2 * wanted) }, (_, k) => k);
  const named = [...special, ...strongest.filter((position) => !special.includes(position) && locateEffect(map, position))];
  const points = named.map((position) => /** @type {[number, number]} */ (locateEffect(map, position)));
  const bold = (k) => k < special.length;
  const texts = named.map((position, k) => fitText(plot, shownName(map.context.payload.names[position]), 130, 11.5, bold(k)));
  const widths = texts.map((text, k) => textWidth(plot, text, 11.5, bold(k)));
  const frame = /** @type {Box} */ ([plot.box.left, plot.box.top - 6, plot.width - 2, plot.box.bottom]);
  const options = { radius: map.radius + 1, always: special.length };
  const places = placeLabels(points, widths, LABEL_HEIGHT, effectMarks(map), frame, options);
  let written = 0;
  places.forEach((place, k) => {
    if (!place || (!bold(k) && written >= wanted)) return;
    if (!bold(k)) written += 1;
    const colour = bold(k) ? plot.palette.ink : plot.palette["ink-soft"];
    if (place.leader) drawLine(plot, ...place.leader, points[k][0], points[k][1], { colour });
    writeText(plot, texts[k], place.box[0], place.box[3] - 4, { halo: true, bold: bold(k), colour });
  });
}

/** Places of the strongest points, which names should not cover. */
function effectMarks(/** @type {EffectMap} */ map) {
  const marks = [];
  for (let i = 0; i < Math.min(map.size, MARKS_KEPT_FREE); i += 1) {
    const place = locateEffect(map, i);
    if (place) marks.push(place);
  }
  return marks;
}

/** Bar of the colours over the map, with the log-odds at its ends and between. */
export function drawColourBar(/** @type {EffectMap} */ map, live) {
  const { plot, shades, size } = map;
  const { palette, ctx } = plot;
  const width = Math.min(180, (plot.box.right - plot.box.left) * 0.42);
  const left = plot.box.right - width;
  const top = plot.compact ? 22 : 20;
  const style = { colour: palette["ink-soft"], size: 11 };
  if (!size) writeText(plot, "no feature over the cut", plot.box.right, 30, { ...style, align: "right" });
  if (!size || !Number.isFinite(live[0])) return;
  shades.forEach((shade, k) => {
    ctx.fillStyle = shade;
    ctx.fillRect(left + (k * width) / shades.length, top, width / shades.length + 0.5, 7);
  });
  const foot = shadeFoot(map, live);
  const reach = Math.asinh((live[0] - foot) / 3);
  const middle = foot + 3 * Math.sinh(reach / 2);
  writeText(plot, formatCompact(foot, 2), left, top + 20, { ...style, align: "left" });
  if (width > 110 && reach > 0.5) {
    writeText(plot, formatCompact(middle, 2), left + width / 2, top + 20, { ...style, align: "center" });
  }
  writeText(plot, formatCompact(live[0], 2), plot.box.right, top + 20, { ...style, align: "right" });
  const title = "log-odds over the cut";
  if (plot.compact) {
    writeText(plot, title, left - 7, top + 8, { ...style, align: "right" });
    return;
  }
  writeText(plot, title, plot.box.right, 13, { ...style, align: "right" });
  const grey = pointSprite(plot, 3, palette["scale-low"]);
  ctx.drawImage(grey.image, left - 96, top - 1, grey.side, grey.side);
  writeText(plot, "not selected", left - 83, top + 7, style);
}

/**
 * Place of a feature in the map; null if its effect is not finite.
 * @returns {[number, number] | null}
 */
export function locateEffect(/** @type {EffectMap} */ map, position) {
  if (!map.places || position >= map.x.length || !(map.places[2 * position] > 0)) return null;
  return [map.places[2 * position], map.places[2 * position + 1]];
}

/** Rank position of the nearest feature within reach; selected ones win over others when about as near. */
export function nearestEffect(/** @type {EffectMap} */ map, x, y) {
  if (!map.places) return -1;
  let best = -1;
  let least = EFFECT_REACH * EFFECT_REACH;
  for (let i = 0; i < map.x.length; i += 1) {
    const across = map.places[2 * i] - x;
    const along = map.places[2 * i + 1] - y;
    const distance = across * across + along * along + (i < map.size ? 0 : 16);
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

/** What the map leaves out, in words; empty if it leaves out nothing. */
export function effectNotes(/** @type {EffectMap} */ { x, y, volcano, context, axes }) {
  const n = context.payload.n_features;
  const height = y || volcano;
  let missing = 0;
  for (let i = 0; i < x.length; i += 1) missing += Number.isFinite(x[i]) && Number.isFinite(height[i]) ? 0 : 1;
  const notes = [];
  if (missing && axes.ranks) notes.push(`the first ${formatCount(x.length - missing)} drawn`);
  else if (missing) notes.push(`${formatCount(missing)} without a finite effect left out`);
  if (x.length && x.length < n) notes.push(`the strongest ${formatCount(x.length)} of ${formatCount(n)} drawn`);
  return notes.join("; ");
}

/** Sentence for screen readers, and the note on features left out under the axis. */
export function describeEffectMap(/** @type {EffectMap} */ { plot, view, context, notes, axes, zoom }) {
  if (notes) {
    const text = fitText(plot, notes, plot.width - 8, 11);
    const middle = (plot.box.left + plot.box.right) / 2;
    const style = { colour: plot.palette["ink-soft"], size: 11 };
    writeWithin(plot, text, middle, plot.box.bottom + 49, style, 2, plot.width - 2);
  }
  const { size, cut } = view.solution;
  const title = axes.key === "effect" ? "Effect map" : `Map of ${axes.title}`;
  plot.describe(`${title}${zoom ? ", a part of it" : ""}. ${formatCount(size)} of ${formatCount(context.payload.n_features)} features lie over the `
    + `cut at log-odds ${formatNumber(cut, 3)}. ${notes ? `${notes}. ` : ""}`
    + "Arrow keys walk through the features by rank, Home and End go to the ends, Enter opens one, x picks one; "
    + "plus, minus and 0 zoom.");
}

/** A small canvas with one point on it, at the resolution of the plot. */
export function pointSprite(
  /** @type {Plot} */ plot, radius, colour, { hollow = false, alpha = 1, rim = true } = {},
) {
  const side = 2 * Math.ceil(radius + 1.5);
  const sprite = document.createElement("canvas");
  sprite.width = Math.ceil(side * plot.ratio);
  sprite.height = sprite.width;
  Object.assign(sprite.dataset, { radius: String(radius), fill: colour }); // for a chart saved as lines and shapes
  if (hollow || rim) sprite.dataset.rim = hollow ? colour : plot.palette.back;
  if (hollow) sprite.dataset.hollow = "true";
  const ctx = contextOf(sprite);
  ctx.scale(plot.ratio, plot.ratio);
  ctx.globalAlpha = alpha;
  ctx.beginPath();
  ctx.arc(side / 2, side / 2, radius, 0, 2 * Math.PI);
  ctx.fillStyle = colour;
  ctx.strokeStyle = hollow ? colour : plot.palette.back;
  if (!hollow) ctx.fill();
  ctx.lineWidth = hollow ? 1 : 0.75;
  if (hollow || rim) ctx.stroke();
  return { image: sprite, side };
}

/** Lowest log-odds on the colour scale: the cut, or the weakest feature of the list if the cut is infinite. */
export function shadeFoot(/** @type {EffectMap} */ map, live) {
  const cut = map.view.solution.cut;
  return Number.isFinite(cut) ? cut : live[Math.max(0, map.view.solution.size - 1)];
}
