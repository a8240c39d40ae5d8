// @ts-check

import { colourParts, colourScale } from "./colours.js";
import {
  describeEffectMap, drawColourBar, drawEffectNames, effectNotes, locateEffect, nearestEffect, pointSprite,
  shadeFoot,
} from "./effect_labels.js";
import { axesOffered, drawMapGuides, titleMap } from "./map_axes.js";
import { connectMapTools, drawPicks, tellPicks } from "./map_tools.js";
import { decodedOnce } from "./numbers.js";
import {
  contextOf, createPlot, drawBottomAxis, drawLeftAxis, drawLine, drawMessage, fitLeft, ringAt,
} from "./plot.js";
import { connectFeatures } from "./pointing.js";
import { finiteExtent, linearScale, logScale, logTicks, niceTicks, tickTexts } from "./scales.js";
import { openedPosition } from "./state.js";

/** @import { Context, EffectMap, Plot, Scale } from "./types.js" */

const EFFECT_SHADES = 24;
const EFFECT_RIMMED = 1200; // in longer lists points have no rim, which would hide those below

/** Scatter of all features: how means differ against how variances differ (or the log-odds), over the cut in colour. */
export function createEffectMap(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { role: "application", margin: { top: 54, right: 18, bottom: 44, left: 46 } });
  plot.canvas.setAttribute("aria-roledescription", "chart");
  const map = /** @type {EffectMap} */ ({
    plot, context, marked: -1, base: null, zoom: null, overlay: null, tool: "move", offered: axesOffered(context),
    bottom: plot.margin.bottom, degenerate: decodedOnce(context.payload.degenerate),
  });
  takeAxes(map, "effect");
  connectMapTools(map, () => paintEffectMap(map));
  connectFeatures(plot, context, {
    nearest: (x, y) => nearestEffect(map, x, y),
    locate: (position) => locateEffect(map, position),
    mark: (position) => { map.marked = position; paintEffectMap(map); },
    count: () => map.x.length,
    opened: () => openedPosition(map.view),
  });
  return {
    plot,
    update: (view) => {
      tellPicks(map, view, map.view?.state.picked);
      map.view = view;
      takeAxes(map, view.state.axes);
      paintEffectMap(map);
    },
    redraw: () => { plot.measure(); map.base = null; paintEffectMap(map); },
  };
}

/** Take the axes of a key, or the first if there are none of that key. */
function takeAxes(/** @type {EffectMap} */ map, key) {
  const axes = map.offered.find((each) => each.key === key) ?? map.offered[0];
  if (map.axes === axes) return;
  map.axes = axes;
  if (axes) titleMap(axes);
  map.x = axes ? axes.x() : new Float32Array(0);
  map.y = axes?.y ? axes.y() : null;
  map.volcano = map.y ? map.volcano : Float32Array.from(map.context.evidence.stored.subarray(0, map.x.length));
  map.notes = axes ? effectNotes(map) : "";
  map.plot.margin.bottom = map.bottom + (map.notes ? 15 : 0);
  Object.assign(map, { base: null, zoom: null });
}

/** Paint the map: grey layer, axes, points over the cut, names, the open feature, the colour bar. */
function paintEffectMap(/** @type {EffectMap} */ map) {
  const { plot, view } = map;
  if (!view || !plot.begin()) return;
  if (!map.axes || !map.x.length) {
    drawMessage(plot, "There is no effect to draw for this model.");
    plot.describe("Effect map: nothing to draw for this model.");
    return;
  }
  if (!map.base) prepareEffectMap(map);
  const live = map.context.evidence.logOdds(view.state);
  map.size = Math.min(view.solution.size, map.x.length);
  const heights = effectHeights(map);
  if (fitLeft(plot, tickTexts(heights.ticks))) prepareEffectMap(map);
  drawEffectAxes(map, heights);
  if (map.base) plot.ctx.drawImage(map.base, 0, 0, plot.width, plot.height);
  drawEffectPoints(map, live);
  drawMapGuides(map);
  drawPicks(map);
  drawEffectNames(map);
  drawColourBar(map, live);
  describeEffectMap(map);
}

/** Scales, pixel places, the layer of grey points and the sprites of the coloured ones; once per size and palette. */
function prepareEffectMap(/** @type {EffectMap} */ map) {
  const { plot, x } = map;
  const y = map.y || map.volcano;
  /** @type {(ends: [number, number], share: number) => [number, number]} */
  const widen = ([low, high], share) => [low - (high - low) * share - 1e-9, high + (high - low) * share + 1e-9];
  const { ranks } = map.axes;
  /** @type {(values: Float32Array, share: number) => [number, number]} */
  const whole = (values, share) => (ranks ? [0.8, 1.25 * (finiteExtent(values) || [1, 1])[1]]
    : widen(/** @type {[number, number]} */ (finiteExtent(values) || [-1, 1]), share));
  map.full = { x: whole(x, 0.04), y: whole(y, 0.05) };
  const seen = map.zoom ?? map.full;
  const makeMapScale = ranks ? logScale : linearScale;
  map.xScale = makeMapScale(seen.x, [plot.box.left, plot.box.right]);
  map.yScale = makeMapScale(seen.y, [plot.box.bottom, plot.box.top]);
  const inside = (value, [low, high]) => value >= low && value <= high;
  map.places = new Float32Array(2 * x.length);
  for (let i = 0; i < x.length; i += 1) {
    const fine = inside(x[i], seen.x) && inside(y[i], seen.y);
    map.places[2 * i] = fine ? map.xScale(x[i]) : NaN;
    map.places[2 * i + 1] = fine ? map.yScale(y[i]) : NaN;
  }
  map.radius = (x.length > 5000 ? 1.5 : x.length > 500 ? 2.2 : 3) * (plot.onPaper ? 0.6 : 1); // a map on paper is small
  map.shades = effectShades(plot.palette);
  map.sprites = map.shades.map((shade) => pointSprite(plot, map.radius + (plot.onPaper ? 0.5 : 1.4), shade));
  map.plainSprites = map.shades.map((shade) => pointSprite(plot, map.radius + (plot.onPaper ? 0.3 : 1), shade, { rim: false }));
  map.base = greyLayer(map);
}

/** Colours from the cut to the strongest feature. */
function effectShades(palette) {
  const [low, high] = [colourParts(palette["scale-mid"]), colourParts(palette["scale-high"])];
  return colourScale(low, high, EFFECT_SHADES).map((parts) => `rgb(${parts.join(",")})`);
}

/** Scale and ticks of the heights: those of the live log-odds where the height means them. */
function effectHeights(/** @type {EffectMap} */ map) {
  const moved = map.y ? 0 : map.context.evidence.shift(map.view.state);
  const shift = Number.isFinite(moved) ? moved : 0;
  if (map.axes.ranks) return { shifted: map.yScale, ticks: rankTicks(map.yScale) };
  const [low, high] = map.yScale.domain;
  const shifted = linearScale([low + shift, high + shift], map.yScale.range);
  return { shifted, ticks: niceTicks(...shifted.domain, 6) };
}

/** Ticks of ranks: powers of ten, or round numbers between them where little is seen. */
function rankTicks(/** @type {Scale} */ scale) {
  const powers = logTicks(scale.domain);
  return powers.length > 2 ? powers : niceTicks(...scale.domain, 5).filter((tick) => tick >= 1);
}

/** Axes with their titles, and lines through 0 or at the cut. */
function drawEffectAxes(/** @type {EffectMap} */ map, { shifted, ticks }) {
  const { plot, axes, xScale } = map;
  const { box, palette } = plot;
  const steps = Math.max(3, Math.round((box.right - box.left) / 90));
  const across = axes.ranks ? rankTicks(xScale) : niceTicks(...xScale.domain, steps);
  drawBottomAxis(plot, xScale, { ticks: across, title: axes.xTitle, grid: false });
  drawLeftAxis(plot, shifted, { ticks, title: axes.yTitle });
  if (axes.ranks) return;
  const zero = xScale(0);
  if (zero > box.left && zero < box.right) drawLine(plot, zero, box.top, zero, box.bottom);
  if (map.y) return;
  const height = shifted(map.view.solution.cut);
  if (height > box.top && height < box.bottom) {
    drawLine(plot, box.left, height, box.right, height, { colour: palette.accent, dash: [5, 4] });
  }
}

/** Shade of a feature: how far it lies over the cut, on a scale that is bent like a logarithm. */
function shadeOf(value, cut, top) {
  const share = Math.asinh((value - cut) / 3) / Math.asinh((top - cut) / 3);
  return Math.max(0, Math.min(EFFECT_SHADES - 1, Math.round((share || 0) * (EFFECT_SHADES - 1))));
}

/** Points over the cut, the strongest last. */
function drawEffectPoints(/** @type {EffectMap} */ map, live) {
  const { plot, places, sprites, degenerate } = map;
  const foot = shadeFoot(map, live);
  const shown = map.size > EFFECT_RIMMED ? map.plainSprites : sprites;
  for (let i = map.size - 1; i >= 0; i -= 1) {
    if (!(places[2 * i] > 0)) continue;
    const shade = shadeOf(live[i], foot, live[0]);
    if (degenerate?.[i]) {
      ringAt(plot, places[2 * i], places[2 * i + 1], map.radius + 1.5, map.shades[shade], 1.5);
      continue;
    }
    const { image, side } = shown[shade];
    plot.ctx.drawImage(image, places[2 * i] - side / 2, places[2 * i + 1] - side / 2, side, side);
  }
}

/** All points in grey on a canvas of their own; degenerate features hollow. Pixel by pixel, since points are many. */
function greyLayer(/** @type {EffectMap} */ map) {
  const { plot, degenerate, places } = map;
  const layer = document.createElement("canvas");
  layer.width = plot.canvas.width;
  layer.height = plot.canvas.height;
  const ctx = contextOf(layer);
  const image = ctx.createImageData(layer.width, layer.height);
  const opacity = places.length > 40000 ? 0.4 : 0.6;
  const solid = stampPoints(map, pointStamp(plot, map.radius, { opacity }), (i) => !degenerate || !degenerate[i]);
  const rings = degenerate?.some((flag) => flag)
    ? stampPoints(map, pointStamp(plot, map.radius + 0.8, { opacity: 0.9, ring: 1 }), (i) => degenerate[i] > 0)
    : null;
  blendLayers(image.data, solid, rings, colourParts(plot.palette["scale-low"]), colourParts(plot.palette["ink-soft"]));
  ctx.putImageData(image, 0, 0);
  return layer;
}

/** Opacity of a point (a disc or, with a width, a ring) on the pixels around it. */
function pointStamp(/** @type {Plot} */ plot, radius, { opacity, ring = 0 }) {
  const size = radius * plot.ratio;
  const reach = Math.ceil(size + 1);
  const cover = [];
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      const distance = Math.hypot(dx, dy);
      const outer = Math.max(0, Math.min(1, size + 0.5 - distance));
      const inner = ring ? Math.max(0, Math.min(1, size - ring * plot.ratio + 0.5 - distance)) : 0;
      if (outer - inner > 0.01) cover.push({ dx, dy, alpha: (outer - inner) * opacity });
    }
  }
  return cover;
}

/** What shines through after all points chosen have been stamped: 1 where there is none. */
function stampPoints(/** @type {EffectMap} */ { plot, places }, stamp, chosen) {
  const { width, height } = plot.canvas;
  const clear = new Float32Array(width * height).fill(1);
  const shifts = Int32Array.from(stamp, ({ dx, dy }) => dy * width + dx);
  const keeps = Float32Array.from(stamp, ({ alpha }) => 1 - alpha);
  const reach = Math.max(...stamp.map(({ dx }) => Math.abs(dx)));
  for (let i = 0; i < places.length / 2; i += 1) {
    const x = Math.round(places[2 * i] * plot.ratio - 0.5);
    const y = Math.round(places[2 * i + 1] * plot.ratio - 0.5);
    if (!(x >= reach && y >= reach && x < width - reach && y < height - reach) || !chosen(i)) continue;
    const at = y * width + x;
    for (let k = 0; k < shifts.length; k += 1) clear[at + shifts[k]] *= keeps[k];
  }
  return clear;
}

/** Put two layers of stamped points, the second over the first, into an image; many points give a stronger tone. */
function blendLayers(bytes, under, over, underColour, overColour) {
  let least = 1;
  for (let i = 0; i < under.length; i += 1) least = Math.min(least, under[i]);
  const depth = Math.log1p(-Math.log(Math.max(least, 1e-30))) || 1;
  for (let i = 0; i < under.length; i += 1) {
    if (under[i] === 1 && (!over || over[i] === 1)) continue;
    const top = over ? 1 - over[i] : 0;
    const below = (1 - under[i]) * (1 - top);
    const tone = (0.5 * Math.log1p(-Math.log(Math.max(under[i], 1e-30)))) / depth;
    for (let c = 0; c < 3; c += 1) {
      const shade = underColour[c] + tone * (overColour[c] - underColour[c]);
      bytes[4 * i + c] = (top * overColour[c] + below * shade) / (top + below);
    }
    bytes[4 * i + 3] = 255 * (top + below);
  }
}
