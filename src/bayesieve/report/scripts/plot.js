// @ts-check

import { firstWhere } from "./numbers.js";
import { createTooltip, PLOT_FONT } from "./pointing.js";
import { tickTexts } from "./scales.js";

/** @import { Axis, Box, LineStyle, Plot, Scale, TextStyle } from "./types.js" */

const PALETTE_NAMES = [
  "ink", "ink-soft", "paper", "panel", "rule", "accent", "accent-soft", "false", "true", "scale-low", "scale-mid",
  "scale-high", "cold", "warm", "class-0", "class-1", "class-2", "class-3", "class-4", "class-5", "class-6", "class-7",
];

/** Colours of the page as the browser resolves them, by their name without dashes. */
function readPalette(/** @type {HTMLElement} */ element) {
  const probe = document.createElement("span");
  probe.style.display = "none";
  element.append(probe);
  const style = getComputedStyle(probe);
  const palette = /** @type {Record<string, string>} */ ({});
  for (const name of PALETTE_NAMES) {
    probe.style.color = `var(--${name})`;
    palette[name] = style.color;
  }
  probe.remove();
  palette.back = backgroundOf(element) || palette.paper;
  return palette;
}

/** Colour behind an element: that of the nearest ancestor which has one. */
function backgroundOf(element) {
  for (let each = element; each; each = each.parentElement) {
    const colour = getComputedStyle(each).backgroundColor;
    if (colour && colour !== "transparent" && !/, 0\)$/.test(colour)) return colour;
  }
  return null;
}

/** What draws on a canvas. */
export function contextOf(/** @type {HTMLCanvasElement} */ canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/** The common ground of every chart: a canvas that fills its element, a tooltip, a palette and a description. */
export function createPlot(
  /** @type {HTMLElement} */ element,
  /** @type {{ role?: string, margin?: Partial<Box> }} */ { role = "img", margin } = {},
) {
  const canvas = document.createElement("canvas");
  const tooltip = createTooltip(element);
  if (getComputedStyle(element).position === "static") element.style.position = "relative";
  Object.assign(canvas.style, { display: "block", width: "100%", height: "100%", objectFit: "contain" });
  canvas.setAttribute("role", role);
  element.prepend(canvas);
  const plot = /** @type {Plot} */ ({
    element, canvas, tooltip, ctx: contextOf(canvas), width: 0, height: 0, ratio: 1,
    margin: { top: 12, right: 14, bottom: 40, left: 52, ...margin }, label: "",
  });
  plot.leftAtLeast = plot.margin.left;
  plot.measure = () => measurePlot(plot);
  plot.begin = () => beginPlot(plot);
  plot.describe = (text) => {
    if (text === plot.label) return;
    plot.label = text;
    canvas.setAttribute("aria-label", text);
  };
  return plot;
}

/** Read the size and the colours; called on redraw, not on every update. */
function measurePlot(/** @type {Plot} */ plot) {
  const { element, canvas } = plot;
  plot.width = element.clientWidth;
  plot.height = element.clientHeight;
  const { printing, saving } = document.documentElement.dataset;
  plot.onPaper = Boolean(printing);
  plot.ratio = plot.onPaper ? 3 : saving ? 2 : Math.min(3, window.devicePixelRatio || 1);
  plot.palette = readPalette(element);
  if (saving) plot.palette.back = "#ffffff";
  plot.margin.left = plot.leftAtLeast;
  const [width, height] = [Math.round(plot.width * plot.ratio), Math.round(plot.height * plot.ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** Give a chart the height its rows need, but on paper, where the page decides; true if that changes it. */
export function wishHeight(/** @type {Plot} */ plot, pixels) {
  const { style } = plot.element;
  if (document.documentElement.dataset.printing || style.height === `${pixels}px`) return false;
  style.height = `${pixels}px`;
  return true;
}

/** Clear the canvas; false if the chart has no room (hidden), so that nothing is to be drawn. */
function beginPlot(/** @type {Plot} */ plot) {
  if (!(plot.width > 0)) plot.measure();
  if (plot.width < 80 || plot.height < 40) {
    plot.width = 0;
    return false;
  }
  const { ctx, margin } = plot;
  ctx.setTransform(plot.ratio, 0, 0, plot.ratio, 0, 0);
  ctx.clearRect(0, 0, plot.width, plot.height);
  plot.compact = plot.width < 440;
  plot.box = {
    left: margin.left, right: plot.width - margin.right, top: margin.top, bottom: plot.height - margin.bottom,
  };
  return true;
}

/** Write text on a plot; `halo` puts the background behind it. */
export function writeText(/** @type {Plot} */ plot, text, x, y, /** @type {TextStyle} */ options = {}) {
  const { align = "left", baseline = "alphabetic", colour, size = 11.5, bold = false, halo = false } = options;
  const { ctx, palette } = plot;
  ctx.font = `${bold ? "600 " : ""}${size}px ${PLOT_FONT}`;
  ctx.textAlign = align;
  ctx.textBaseline = baseline;
  if (halo) {
    ctx.lineJoin = "round";
    ctx.lineWidth = 3.5;
    ctx.strokeStyle = palette.back;
    ctx.strokeText(text, x, y);
  }
  ctx.fillStyle = colour || palette.ink;
  ctx.fillText(text, x, y);
}

/** Width of a text in pixels. */
export function textWidth(/** @type {Plot} */ plot, text, size = 11.5, bold = false) {
  plot.ctx.font = `${bold ? "600 " : ""}${size}px ${PLOT_FONT}`;
  return plot.ctx.measureText(text).width;
}

/** A text shortened with an ellipsis to fit a width. */
export function fitText(/** @type {Plot} */ plot, text, width, size = 11.5, bold = false) {
  if (text.length < 400 && textWidth(plot, text, size, bold) <= width) return text;
  const begun = (length) => `${text.slice(0, length)}\u2026`;
  const most = Math.min(text.length, 200);
  return begun(firstWhere(most, (length) => textWidth(plot, begun(length + 1), size, bold) > width));
}

/** A text that stays between two ends of the plot, centred on x where it can. */
export function writeWithin(
  /** @type {Plot} */ plot, text, x, y, /** @type {TextStyle} */ options = {}, low = plot.box.left,
  high = plot.box.right,
) {
  const half = textWidth(plot, text, options.size, options.bold) / 2;
  const centre = Math.max(low + half, Math.min(high - half, x));
  writeText(plot, text, centre, y, { ...options, align: "center" });
}

/** A straight line. */
export function drawLine(
  /** @type {Plot} */ plot, x0, y0, x1, y1, /** @type {LineStyle} */ { colour, width = 1, dash = [] } = {},
) {
  const { ctx } = plot;
  ctx.beginPath();
  ctx.setLineDash(dash);
  ctx.lineWidth = width;
  ctx.strokeStyle = colour || plot.palette.rule;
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A line through points [[x, y], ...]. */
export function drawPath(
  /** @type {Plot} */ plot, points, /** @type {LineStyle} */ { colour, width = 1.75, dash = [] } = {},
) {
  const { ctx } = plot;
  ctx.beginPath();
  points.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.setLineDash(dash);
  ctx.lineJoin = "round";
  ctx.lineWidth = width;
  ctx.strokeStyle = colour || plot.palette.accent;
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A filled area between points and a horizontal base. */
export function drawArea(/** @type {Plot} */ plot, points, base, colour, alpha = 1) {
  if (!points.length) return;
  const { ctx } = plot;
  ctx.beginPath();
  ctx.moveTo(points[0][0], base);
  points.forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.lineTo(points[points.length - 1][0], base);
  ctx.closePath();
  ctx.globalAlpha = alpha;
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** A dot with a rim in the colour of the background. */
export function drawDot(/** @type {Plot} */ plot, x, y, colour, radius = 5) {
  const { ctx } = plot;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.lineWidth = 1.75;
  ctx.strokeStyle = plot.palette.back;
  ctx.stroke();
}

/** Horizontal axis below the box: ticks, their texts, gridlines and a title. */
export function drawBottomAxis(
  /** @type {Plot} */ plot, /** @type {Scale} */ scale,
  /** @type {Axis} */ { ticks, texts = tickTexts(ticks), title, grid = true },
) {
  const { box, palette } = plot;
  drawLine(plot, box.left, box.bottom, box.right, box.bottom, { colour: palette["ink-soft"], width: 0.75 });
  let edge = -Infinity;
  ticks.forEach((tick, k) => {
    const x = scale(tick);
    if (grid) drawLine(plot, x, box.top, x, box.bottom, { width: 0.6 });
    drawLine(plot, x, box.bottom, x, box.bottom + 4, { colour: palette["ink-soft"], width: 0.75 });
    const half = textWidth(plot, texts[k], 11) / 2;
    if (x - half < edge || x + half > plot.width) return;
    writeText(plot, texts[k], x, box.bottom + 16, { align: "center", colour: palette["ink-soft"], size: 11 });
    edge = x + half + 6;
  });
  if (!title) return;
  const size = titleSize(plot, title, plot.width - 8);
  const text = fitText(plot, title, plot.width - 4, size);
  writeWithin(plot, text, (box.left + box.right) / 2, box.bottom + 32, { size }, 2, plot.width - 2);
}

/** Size of the title of an axis: a little smaller where it is long, on paper much smaller. */
function titleSize(/** @type {Plot} */ plot, title, width) {
  const sizes = plot.onPaper ? [11.5, 11, 10, 9, 8] : [11.5, 11];
  return sizes.find((size) => textWidth(plot, title, size) <= width) ?? sizes[sizes.length - 1];
}

/** Widen the left margin to the texts of its axis, until the next measuring; true if that changed it. */
export function fitLeft(/** @type {Plot} */ plot, texts) {
  const widest = Math.ceil(Math.max(0, ...texts.map((text) => textWidth(plot, text, 11)))) + 10;
  if (widest <= plot.margin.left) return false;
  plot.margin.left = widest;
  plot.box.left = widest;
  return true;
}

/** Vertical axis left of the box; its title stands above it, level, where it is easiest to read. */
export function drawLeftAxis(
  /** @type {Plot} */ plot, /** @type {Scale} */ scale,
  /** @type {Axis} */ { ticks, texts = tickTexts(ticks), title, grid = true },
) {
  const { box, palette } = plot;
  ticks.forEach((tick, k) => {
    const y = scale(tick);
    if (grid) drawLine(plot, box.left, y, box.right, y, { width: 0.6 });
    /** @type {TextStyle} */
    const style = { align: "right", baseline: "middle", colour: palette["ink-soft"], size: 11 };
    writeText(plot, texts[k], box.left - 7, y, style);
  });
  if (!title) return;
  const size = titleSize(plot, title, plot.width - 12);
  writeText(plot, fitText(plot, title, plot.width - 12, size), 4, 13, { size });
}

/** One line of grey text in the middle of an empty chart. */
export function drawMessage(/** @type {Plot} */ plot, text) {
  const words = text.split(" ");
  const lines = [""];
  for (const word of words) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (textWidth(plot, longer, 12.5) <= plot.width - 24) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  lines.forEach((line, k) => {
    const y = plot.height / 2 + (k - (lines.length - 1) / 2) * 18;
    writeText(plot, line, plot.width / 2, y, { align: "center", size: 12.5, colour: plot.palette["ink-soft"] });
  });
}

/** A circle around a place. */
export function ringAt(/** @type {Plot} */ plot, x, y, radius, colour, width = 2) {
  const { ctx } = plot;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  ctx.stroke();
}
