// @ts-check
// Tools of the map: choice of axes, zoom, and selecting features with a box or a lasso.

import { allOf, byId, oncePerFrame } from "./elements.js";
import { formatCount, shownName } from "./numbers.js";
import { ringAt } from "./plot.js";

/** @import { EffectMap, View } from "./types.js" */

const ZOOM_STEP = 1.5;
const DRAGGED = 4; // pixels from which a click is a drag
const PICKS_RINGED = 2000;

/** Rank positions that were picked, from their text. */
export function pickedPositions(/** @type {string} */ text) {
  return text ? text.split(",").map(Number) : [];
}

/** Let the tools work on a map; to be called before other listeners of its canvas are there. */
export function connectMapTools(/** @type {EffectMap} */ map, repaint) {
  const { canvas } = map.plot;
  const { store } = map.context;
  const choice = /** @type {HTMLSelectElement} */ (byId("map-axes"));
  choice.replaceChildren(...map.offered.map(({ key, title }) => new Option(title, key)));
  choice.addEventListener("change", () => store.set({ axes: choice.value }));
  const later = oncePerFrame(() => { map.base = null; repaint(); });
  const zoom = (factor, x, y) => { zoomAt(map, factor, x, y); later(); tellZoom(map); };
  const middle = (side) => (side === "x" ? (map.plot.box.left + map.plot.box.right) / 2 : (map.plot.box.top + map.plot.box.bottom) / 2);
  const around = (factor) => zoom(factor, middle("x"), middle("y"));
  const reset = () => { map.zoom = null; later(); tellZoom(map); };
  byId("map-in").addEventListener("click", () => around(1 / ZOOM_STEP));
  byId("map-out").addEventListener("click", () => around(ZOOM_STEP));
  byId("map-reset").addEventListener("click", reset);
  canvas.addEventListener("wheel", (event) => {
    const wanted = event.ctrlKey || event.metaKey || document.activeElement === canvas;
    if (!wanted || (event.deltaY > 0 && !map.zoom)) return; // the page scrolls
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    zoom(1.0015 ** Math.max(-400, Math.min(400, event.deltaY)), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const keys = { "+": () => around(1 / ZOOM_STEP), "=": () => around(1 / ZOOM_STEP), "-": () => around(ZOOM_STEP), 0: reset };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (keys[event.key]) keys[event.key]();
    else if (event.key === "x" && map.marked >= 0) togglePick(map, map.marked);
    else return;
    event.preventDefault();
  });
  for (const button of allOf("[data-tool]")) {
    button.addEventListener("click", () => {
      map.tool = /** @type {EffectMap["tool"]} */ (button.dataset.tool);
      allOf("[data-tool]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      canvas.style.touchAction = map.tool === "move" && !map.zoom ? "" : "none";
    });
  }
  byId("map-picked-table").addEventListener("click", () => {
    store.set({ filter: "picked" });
    byId("table").scrollIntoView({ block: "start" });
  });
  byId("map-picked-clear").addEventListener("click", () => store.set({ picked: "", filter: "all" }));
  connectDrag(map, later, repaint);
}

/** Zoom by a factor, with a place that stays where it is; never beyond the whole map. */
export function zoomAt(/** @type {EffectMap} */ map, factor, x, y) {
  const next = {};
  let whole = true;
  for (const [side, scale, at] of /** @type {const} */ ([["x", map.xScale, x], ["y", map.yScale, y]])) {
    const [low, high] = scale.range.map((end) => scale.invert(at + (end - at) * factor));
    const [least, most] = map.full[side];
    next[side] = [Math.max(least, Math.min(low, high)), Math.min(most, Math.max(low, high))];
    whole = whole && next[side][0] <= least && next[side][1] >= most;
  }
  map.zoom = whole ? null : /** @type {EffectMap["zoom"]} */ (next);
}

/** Shift what is seen by some pixels, as far as there is something to see. */
function panBy(/** @type {EffectMap} */ map, dx, dy) {
  if (!map.zoom) return;
  for (const [side, scale, by] of /** @type {const} */ ([["x", map.xScale, dx], ["y", map.yScale, dy]])) {
    const [low, high] = scale.range.map((end) => scale.invert(end - by));
    if (low >= map.full[side][0] && high <= map.full[side][1]) map.zoom[side] = [low, high];
  }
}

/** Say whether the whole map is seen. */
function tellZoom(/** @type {EffectMap} */ map) {
  byId("map-reset").setAttribute("aria-disabled", String(!map.zoom));
  map.plot.canvas.style.touchAction = map.tool === "move" && !map.zoom ? "" : "none";
}

/** Dragging moves the map, or draws a box (also with Shift) or a lasso (also with Alt). */
function connectDrag(/** @type {EffectMap} */ map, later, repaint) {
  const { canvas, tooltip } = map.plot;
  /** @type {{ points: [number, number][], tool: string, moved: boolean } | null} */
  let drag = null;
  let swallow = false;
  const place = (event) => {
    const frame = canvas.getBoundingClientRect();
    return /** @type {[number, number]} */ ([event.clientX - frame.left, event.clientY - frame.top]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    swallow = false;
    if (event.button !== 0) return;
    drag = { points: [place(event)], tool: event.shiftKey ? "box" : event.altKey ? "lasso" : map.tool, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const at = place(event);
    const [first] = drag.points;
    if (!drag.moved && Math.hypot(at[0] - first[0], at[1] - first[1]) < DRAGGED) return;
    if (!drag.moved) canvas.setPointerCapture(event.pointerId);
    drag.moved = true;
    event.stopImmediatePropagation();
    tooltip.hide();
    if (drag.tool === "move") {
      const last = drag.points[drag.points.length - 1];
      panBy(map, at[0] - last[0], at[1] - last[1]);
      drag.points = [at];
      if (map.zoom) later();
      return;
    }
    drag.points = drag.tool === "box" ? [first, at] : [...drag.points, at];
    map.overlay = drag.points;
    repaint();
  });
  const end = () => {
    const done = drag;
    drag = null;
    map.overlay = null;
    if (!done?.moved) return;
    swallow = true;
    if (done.tool !== "move") pick(map, featuresInside(map, done.points));
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", () => { drag = null; map.overlay = null; });
  canvas.addEventListener("click", (event) => {
    if (swallow) event.stopImmediatePropagation();
    swallow = false;
  });
}

/** Rank positions of the features inside a box (two corners) or a polygon, in pixels. */
export function featuresInside(/** @type {EffectMap} */ { places }, /** @type {[number, number][]} */ points) {
  const corners = points.length === 2
    ? [points[0], [points[1][0], points[0][1]], points[1], [points[0][0], points[1][1]]] : points;
  const found = [];
  for (let i = 0; i < places.length / 2; i += 1) {
    const [x, y] = [places[2 * i], places[2 * i + 1]];
    if (!(x > 0)) continue;
    let inside = false;
    for (let k = 0, before = corners.length - 1; k < corners.length; before = k, k += 1) {
      const [[ax, ay], [bx, by]] = [corners[k], corners[before]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    }
    if (inside) found.push(i);
  }
  return found;
}

/** Make some features the picked ones. */
function pick(/** @type {EffectMap} */ map, /** @type {number[]} */ positions) {
  const { store, announce } = map.context;
  store.set({ picked: positions.join(",") });
  announce(`${formatCount(positions.length)} features picked.`);
}

/** Pick a feature, or let it go. */
function togglePick(/** @type {EffectMap} */ map, position) {
  const now = pickedPositions(map.view.state.picked);
  pick(map, now.includes(position) ? now.filter((each) => each !== position) : [...now, position].sort((a, b) => a - b));
}

/** Rings around the picked features, and the box or lasso that is being drawn. */
export function drawPicks(/** @type {EffectMap} */ map) {
  const { plot, places, view, overlay } = map;
  for (const i of pickedPositions(view.state.picked).slice(0, PICKS_RINGED)) {
    if (places[2 * i] > 0) ringAt(plot, places[2 * i], places[2 * i + 1], map.radius + 2.6, plot.palette.false, 1.25);
  }
  if (!overlay) return;
  const { ctx } = plot;
  ctx.beginPath();
  if (overlay.length === 2) ctx.rect(...overlay[0], overlay[1][0] - overlay[0][0], overlay[1][1] - overlay[0][1]);
  else overlay.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.closePath();
  ctx.fillStyle = plot.palette.accent;
  ctx.globalAlpha = 0.12;
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.lineWidth = 1.25;
  ctx.strokeStyle = plot.palette.accent;
  ctx.stroke();
}

/** Tell which features are picked, with their names to be copied. */
export function tellPicks(/** @type {EffectMap} */ map, /** @type {View} */ view, before) {
  const { picked, axes } = view.state;
  const choice = /** @type {HTMLSelectElement} */ (byId("map-axes"));
  choice.value = map.offered.some(({ key }) => key === axes) ? axes : (map.offered[0]?.key ?? "");
  if (before === picked) return;
  const positions = pickedPositions(picked);
  byId("map-picked").hidden = !positions.length;
  byId("map-picked-count").textContent = `${formatCount(positions.length)} feature${positions.length === 1 ? "" : "s"} picked`;
  byId("map-picked-names").textContent = positions.map((i) => shownName(map.context.payload.names[i])).join("\n");
}
