// @ts-check

/** @import { Context, Features, Plot } from "./types.js" */

export const PLOT_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** The tooltip of one chart: shown beside a place with lines of text, the first of them bold. */
export function createTooltip(element) {
  const box = document.createElement("div");
  box.className = "plot-tooltip";
  box.setAttribute("aria-hidden", "true");
  Object.assign(box.style, {
    position: "absolute", left: "0", top: "0", pointerEvents: "none", visibility: "hidden", zIndex: "5",
    maxWidth: "min(260px, 90%)", padding: "6px 9px", borderRadius: "6px", font: `12px/1.4 ${PLOT_FONT}`,
    background: "var(--paper)", color: "var(--ink)", border: "1px solid var(--rule)", overflow: "hidden",
    boxShadow: "0 2px 10px rgba(0, 0, 0, 0.18)", overflowWrap: "anywhere", fontVariantNumeric: "tabular-nums",
  });
  element.append(box);
  let shown = "";
  return {
    show: (x, y, lines) => {
      const text = lines.join("\n");
      if (text !== shown) fillTooltip(box, lines);
      shown = text;
      placeTooltip(element, box, x, y);
    },
    hide: () => { box.style.visibility = "hidden"; },
  };
}

/** Put lines of text into a tooltip. */
function fillTooltip(box, lines) {
  box.replaceChildren(...lines.map((line, k) => {
    const row = document.createElement("div");
    row.textContent = line.length > 160 ? `${line.slice(0, 160)}\u2026` : line;
    if (k === 0) row.style.fontWeight = "600";
    return row;
  }));
}

/** Place a tooltip beside a point so that it stays inside its chart as far as it can. */
function placeTooltip(element, box, x, y) {
  const [width, height] = [box.offsetWidth, box.offsetHeight];
  const left = x + 14 + width <= element.clientWidth ? x + 14 : Math.max(0, x - 14 - width);
  const top = y - height - 10 >= 0 ? y - height - 10 : y + 16;
  box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  box.style.visibility = "visible";
}

/**
 * Place of a pointer event in the pixels of the plot.
 * @returns {[number, number]}
 */
function pointerPlace(/** @type {Plot} */ plot, event) {
  const frame = plot.canvas.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
}

/** What `context.describe` says of a feature, as a list of lines. */
function tooltipLines(/** @type {Context} */ context, position) {
  const said = context.describe(position);
  return Array.isArray(said) ? said.map(String) : String(said).split("\n");
}

/** Show a tooltip wherever `find(x, y)` gives {x, y, lines}; for charts whose marks do not open anything. */
export function connectHover(/** @type {Plot} */ plot, find) {
  const { canvas, tooltip } = plot;
  const show = (event) => {
    const found = plot.width > 0 ? find(...pointerPlace(plot, event)) : null;
    if (found) tooltip.show(found.x, found.y, found.lines);
    else tooltip.hide();
  };
  canvas.addEventListener("pointermove", show);
  canvas.addEventListener("pointerdown", show);
  canvas.addEventListener("pointerleave", tooltip.hide);
}

/**
 * Let people hover, click, touch and walk through the features of a chart by keyboard.
 * `nearest(x, y)` gives a rank position or -1; `locate(position)` its place or null; `mark(position)` repaints
 * the chart with that feature marked (-1: none).
 */
export function connectFeatures(
  /** @type {Plot} */ plot, /** @type {Context} */ context,
  /** @type {Features} */ { nearest, locate, mark, count, opened },
) {
  const { canvas, tooltip } = plot;
  const pointer = { current: -1 };
  const move = (position) => {
    if (position === pointer.current) return;
    pointer.current = position;
    mark(position);
    canvas.style.cursor = position >= 0 ? "pointer" : "default";
  };
  const point = (event) => {
    const position = plot.width > 0 ? nearest(...pointerPlace(plot, event)) : -1;
    move(position);
    const place = position >= 0 ? locate(position) : null;
    if (place) tooltip.show(...place, tooltipLines(context, position));
    else tooltip.hide();
  };
  const leave = () => {
    move(-1);
    tooltip.hide();
  };
  canvas.tabIndex = 0;
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("click", (event) => {
    const position = nearest(...pointerPlace(plot, event));
    if (position >= 0) context.open(position);
  });
  canvas.addEventListener("keydown", (event) => {
    walkFeatures(event, { context, pointer, move, locate, tooltip, count, opened, leave });
  });
}

/** Answer a key on a chart of features: arrows walk by rank, Home and End go to the ends, Enter opens. */
function walkFeatures(event, { context, pointer, move, locate, tooltip, count, opened, leave }) {
  const steps = {
    ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity,
  };
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape" && pointer.current >= 0) {
    event.preventDefault();
    leave();
    return;
  }
  if ((event.key === "Enter" || event.key === " ") && pointer.current >= 0) {
    event.preventDefault();
    context.open(pointer.current);
    return;
  }
  if (!(event.key in steps)) return;
  event.preventDefault();
  const last = count() - 1;
  const started = pointer.current >= 0;
  const from = started ? pointer.current : opened();
  const step = steps[event.key];
  const moves = started || step < 0 || step === Infinity; // the first step forwards goes to the open feature
  let position = moves ? Math.max(0, Math.min(last, from + step)) : Math.min(last, Math.max(0, from));
  const direction = step > 0 ? 1 : -1;
  while (position > 0 && position < last && !locate(position)) position += direction;
  const place = locate(position);
  move(position);
  const lines = tooltipLines(context, position);
  if (place) tooltip.show(...place, lines);
  else tooltip.hide();
  context.announce(lines.join(", "));
}
