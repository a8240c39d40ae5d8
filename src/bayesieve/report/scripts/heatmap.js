// @ts-check
// Values of the strongest features, sample by sample, with columns about the samples above them.

import { colourParts, oklchOf, rgbOf } from "./colours.js";
import { decodedOnce, formatCount, formatNumber, shorten, shownName } from "./numbers.js";
import { contextOf, createPlot, drawLine, fitText, textWidth, wishHeight, writeText } from "./plot.js";
import { openedPosition } from "./state.js";

/** @import { Context, Heatmap, Payload, Plot, SampleColumn, View } from "./types.js" */

const HEAT_LIMIT = 2.5; // standard deviations at which a colour is full
const TRACK_HEIGHT = 11;
const ROW_HEIGHT = 13;

/**
 * Rows of the heatmap as rank positions, columns as numbers of samples, and values in standard deviations; `wanted` is
 * a number of features or "list", whose features come in the order of the largest heatmap.
 */
export function heatmapContent(/** @type {Payload} */ payload, wanted = "50", listed = 0) {
  const { sizes } = /** @type {NonNullable<Payload["sample_view"]>} */ (payload.sample_view);
  const values = /** @type {NonNullable<Payload["values"]>} */ (payload.values);
  const largest = sizes.reduce((best, each) => (each.n > best.n ? each : best));
  const chosen = wanted === "list" ? largest : sizes.find(({ n }) => n === Number(wanted)) ?? largest;
  const [ordered, samples] = [decodedOnce(chosen.features), decodedOnce(chosen.samples)];
  const rows = wanted === "list" && listed ? ordered.filter((position) => position < listed) : ordered;
  const data = decodedOnce(values.data);
  const scaled = new Float32Array(rows.length * samples.length);
  rows.forEach((position, r) => {
    let [count, sum] = [0, 0];
    const at = (s) => data[position * samples.length + samples[s]];
    for (let s = 0; s < samples.length; s += 1) if (Number.isFinite(at(s))) { count += 1; sum += at(s); }
    const mean = sum / count;
    let squares = 0;
    for (let s = 0; s < samples.length; s += 1) if (Number.isFinite(at(s))) squares += (at(s) - mean) ** 2;
    const spread = Math.sqrt(squares / Math.max(1, count - 1));
    for (let s = 0; s < samples.length; s += 1) {
      scaled[r * samples.length + s] = spread > 0 ? (at(s) - mean) / spread : Number.isFinite(at(s)) ? 0 : NaN;
    }
  });
  return { rows, samples, scaled, owner: decodedOnce(values.class), data };
}

/** Columns about the samples: the class first, then those of the table. */
export function sampleColumns(/** @type {Payload} */ payload) {
  const { classes, values, sample_view: view } = payload;
  const own = { title: "class", kind: "text", levels: classes, codes: decodedOnce(values?.class) };
  const columns = (view?.columns ?? []).map((column) => {
    if (column.kind !== "text") return { title: column.title, kind: "number", values: decodedOnce(column.values) };
    const levels = column.levels ?? [...new Set(column.values)];
    const codes = column.codes ? decodedOnce(column.codes) : column.values.map((text) => levels.indexOf(text));
    return { title: column.title, kind: "text", levels, codes, first: Math.max(2, classes.length) };
  });
  return /** @type {SampleColumn[]} */ ([own, ...columns]);
}

/** What a column says about a sample. */
export function sampleText(/** @type {SampleColumn} */ column, sample) {
  if (column.kind === "text") return shownName(column.levels[column.codes[sample]] || "\u2013");
  return formatNumber(column.values[sample], 4);
}

/** Colour of a sample in a column. */
export function sampleColour(/** @type {Plot} */ plot, /** @type {SampleColumn} */ column, sample) {
  const { palette } = plot;
  if (column.kind === "text") {
    const shown = column.levels.filter(String);
    const place = shown.indexOf(column.levels[column.codes[sample]]);
    return place < 0 ? palette.back : palette[`class-${(place + (column.first ?? 0)) % 8}`]; // other columns do not look like classes
  }
  column.extent = column.extent ?? extentOf(column.values);
  const [low, high] = column.extent;
  const share = (column.values[sample] - low) / (high - low || 1);
  if (!Number.isFinite(share)) return palette.back;
  return between(colourParts(palette.back), colourParts(palette.ink), 0.08 + 0.8 * share);
}

/** Ends of finite numbers. */
function extentOf(numbers) {
  const known = [...numbers].filter(Number.isFinite);
  return /** @type {[number, number]} */ ([Math.min(...known), Math.max(...known)]);
}

/** A colour between two. */
function between(from, to, share) {
  return `rgb(${from.map((part, k) => Math.round(part + share * (to[k] - part))).join(",")})`;
}

/** Colours of values: cold below the mean, warm over it, the ground of the chart at it; evenly light. */
export function heatShades(/** @type {Record<string, string>} */ palette, count = 127) {
  const [cold, warm, back] = ["cold", "warm", "back"].map((name) => oklchOf(colourParts(palette[name])));
  return Array.from({ length: count }, (_, k) => {
    const place = (2 * k) / (count - 1) - 1;
    const end = place < 0 ? cold : warm;
    const share = Math.abs(place);
    return rgbOf([back[0] + share * (end[0] - back[0]), back[1] + share * (end[1] - back[1]), end[2]]);
  });
}

/** Heatmap of the strongest features. */
export function createHeatmap(element, /** @type {Context} */ context) {
  const plot = createPlot(element, { role: "application", margin: { top: 26, right: 120, bottom: 34, left: 8 } });
  plot.canvas.setAttribute("aria-roledescription", "heatmap");
  plot.canvas.tabIndex = 0;
  const columns = sampleColumns(context.payload);
  const map = /** @type {Heatmap} */ ({ plot, context, columns, cell: null, image: null, shown: "" });
  const choice = connectHeatmapSize(context);
  const tracks = columns.length * (TRACK_HEIGHT + 2) + 5;
  const fit = () => wishHeight(plot, plot.margin.top + tracks + map.rows.length * ROW_HEIGHT + plot.margin.bottom);
  /** Take the rows that are asked for; true if they are others than before. */
  const take = (/** @type {View | null} */ view) => {
    const wanted = view?.state.heatmap ?? "50";
    const listed = view?.solution.size ?? 0;
    const key = wanted === "list" ? `list ${Math.min(listed, 100)}` : wanted;
    if (map.shown === key) return false;
    Object.assign(map, { shown: key, cell: null, image: null, ...heatmapContent(context.payload, wanted, listed) });
    return true;
  };
  take(null);
  fit();
  map.tracks = tracks;
  connectHeatmap(map);
  return {
    plot,
    update: (view) => {
      const same = map.view && openedPosition(map.view) === openedPosition(view) && plot.width > 0
        && map.view.solution.size === view.solution.size;
      map.view = view;
      const other = take(view);
      if (choice) choice.value = view.state.heatmap;
      tellHeatmap(map);
      if (other && fit()) plot.measure();
      if (other || !same) paintHeatmap(map);
    },
    redraw: () => { fit(); plot.measure(); map.image = null; paintHeatmap(map); },
  };
}

/** Offer the numbers of features for which there are values. */
function connectHeatmapSize(/** @type {Context} */ { payload, store }) {
  const choice = /** @type {HTMLSelectElement | null} */ (document.getElementById("heatmap-size"));
  const sizes = (payload.sample_view?.sizes ?? []).map(({ n }) => n).sort((a, b) => a - b);
  if (!choice) return null;
  const offered = ["20", "50", "100"].filter((size) => sizes.includes(Number(size)));
  if (!offered.includes("50")) choice.append(new Option(`the ${formatCount(sizes[sizes.length - 1])} strongest`, "50"));
  choice.append(...offered.map((size) => new Option(`the ${size} strongest`, size)), new Option("the present list", "list"));
  choice.addEventListener("change", () => store.set({ heatmap: choice.value }));
  return choice;
}

/** Say which features the heatmap shows. */
function tellHeatmap(/** @type {Heatmap} */ { rows, view }) {
  const place = document.getElementById("heatmap-shown");
  if (!place) return;
  const [n, size] = [rows.length, view.solution.size];
  const within = Math.min(n, size);
  const listed = size === 0 ? "none of them is in the list" : within === n ? "all of them are in the list" : `${formatCount(within)} of them in the list`;
  const short = view.state.heatmap === "list" && size > n ? ` (the list is longer: ${formatCount(size)})` : "";
  place.textContent = n === 1 ? "One feature is shown." : `${formatCount(n)} features are shown, ${listed}${short}.`;
}

/** Paint the tracks, the cells, the names and the key. */
function paintHeatmap(/** @type {Heatmap} */ map) {
  const { plot, rows, samples, columns, context } = map;
  const widest = Math.max(40, ...Array.from(rows, (position) => textWidth(plot, shownName(context.payload.names[position]), 10.5)));
  plot.margin.right = Math.min(plot.width < 440 ? 84 : 150, widest + 14);
  if (!map.view || !plot.begin()) return;
  const { ctx, box } = plot;
  const top = box.top + map.tracks;
  const [wide, tall] = [(box.right - box.left) / samples.length, (box.bottom - top) / rows.length];
  Object.assign(map, { top, wide, tall });
  map.image = map.image ?? heatImage(map);
  ctx.imageSmoothingEnabled = samples.length > 2 * (box.right - box.left);
  ctx.drawImage(map.image, box.left, top, box.right - box.left, box.bottom - top);
  columns.forEach((column, k) => paintTrack(map, column, box.top + k * (TRACK_HEIGHT + 2)));
  paintClassEdges(map);
  paintHeatNames(map);
  paintHeatKey(map);
  if (map.cell) {
    const [r, s] = map.cell;
    ctx.strokeStyle = plot.palette.ink;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(box.left + s * wide, top + r * tall, Math.max(3, wide), tall);
  }
  const names = columns.map((column) => column.title).join(", ");
  plot.describe(`Heatmap of the ${formatCount(rows.length)} strongest features and ${formatCount(samples.length)} samples, `
    + `clustered within classes, with tracks for ${names}. Arrow keys walk through the cells, Enter opens the feature.`);
}

/** One pixel for each value. */
function heatImage(/** @type {Heatmap} */ map) {
  const { plot, rows, samples, scaled } = map;
  const shades = heatShades(plot.palette);
  const missing = colourParts(plot.palette.rule);
  const image = document.createElement("canvas");
  image.width = samples.length;
  image.height = rows.length;
  const ctx = contextOf(image);
  const pixels = ctx.createImageData(image.width, image.height);
  scaled.forEach((value, i) => {
    const place = Math.max(-1, Math.min(1, value / HEAT_LIMIT));
    const colour = Number.isFinite(value) ? shades[Math.round(((place + 1) / 2) * (shades.length - 1))] : missing;
    pixels.data.set([...colour, 255], 4 * i);
  });
  ctx.putImageData(pixels, 0, 0);
  return image;
}

/** One column about the samples, as a band of colours with its name at the right. */
function paintTrack(/** @type {Heatmap} */ map, /** @type {SampleColumn} */ column, y) {
  const { plot, samples } = map;
  const { ctx, box } = plot;
  const wide = (box.right - box.left) / samples.length;
  samples.forEach((sample, s) => {
    ctx.fillStyle = sampleColour(plot, column, sample);
    ctx.fillRect(box.left + s * wide, y, wide + 0.4, TRACK_HEIGHT);
  });
  const text = fitText(plot, shownName(column.title), plot.margin.right - 8, 10.5, true);
  writeText(plot, text, box.right + 6, y + TRACK_HEIGHT - 2, { size: 10.5, bold: true });
}

/** Lines between classes, and their names over the tracks. */
function paintClassEdges(/** @type {Heatmap} */ map) {
  const { plot, samples, owner, wide, context } = map;
  const { box, palette } = plot;
  let from = 0;
  for (let s = 1; s <= samples.length; s += 1) {
    if (s < samples.length && owner[samples[s]] === owner[samples[from]]) continue;
    const name = shownName(context.payload.classes[owner[samples[from]]]);
    const text = fitText(plot, name, (s - from) * wide - 4, 11.5, true);
    const colour = palette[`class-${owner[samples[from]] % 8}`];
    if (text !== "\u2026") writeText(plot, text, box.left + from * wide, box.top - 7, { bold: true, colour });
    if (s < samples.length) {
      drawLine(plot, box.left + s * wide, box.top, box.left + s * wide, box.bottom, { colour: palette.back, width: 3 });
    }
    from = s;
  }
}

/** Names of the features at the right; those of the list in the colour of the text. */
function paintHeatNames(/** @type {Heatmap} */ map) {
  const { plot, rows, top, tall, context, view } = map;
  const { box, palette } = plot;
  if (tall < 8) return;
  rows.forEach((position, r) => {
    const opened = position === view.state.feature;
    const text = fitText(plot, shownName(context.payload.names[position]), plot.margin.right - 8, 10.5, opened);
    const colour = position < view.solution.size ? palette.ink : palette["ink-soft"];
    writeText(plot, text, box.right + 6, top + (r + 0.5) * tall, { size: 10.5, baseline: "middle", colour, bold: opened });
  });
}

/** What colours mean. */
function paintHeatKey(/** @type {Heatmap} */ { plot }) {
  const { ctx, box, palette } = plot;
  const [width, y] = [Math.min(140, (box.right - box.left) * 0.4), box.bottom + 9];
  const shades = heatShades(palette, 60);
  shades.forEach((shade, k) => {
    ctx.fillStyle = `rgb(${shade.join(",")})`;
    ctx.fillRect(box.left + (k * width) / shades.length, y, width / shades.length + 0.5, 7);
  });
  const style = { size: 10.5, colour: palette["ink-soft"] };
  const limit = formatNumber(HEAT_LIMIT, 2);
  writeText(plot, `\u2212${limit}`, box.left, y + 18, style);
  writeText(plot, `+${limit}`, box.left + width, y + 18, { ...style, align: "right" });
  const words = "standard deviations from the mean of the feature";
  writeText(plot, fitText(plot, words, plot.width - width - box.left - 12, 10.5), box.left + width + 10, y + 8, style);
}

/** What a cell says. */
function cellLines(/** @type {Heatmap} */ map, r, s) {
  const { rows, samples, scaled, data, columns, context } = map;
  const { payload } = context;
  const [position, sample] = [rows[r], samples[s]];
  const value = data[position * samples.length + sample];
  const lines = [shownName(payload.names[position]), `sample ${shownName(payload.values?.samples[sample] ?? sample)}`];
  lines.push(`value ${formatNumber(value, 4)} (${formatNumber(scaled[r * samples.length + s], 2)} standard deviations)`);
  return [...lines, ...columns.map((column) => `${shownName(column.title)}: ${shorten(sampleText(column, sample), 40)}`)];
}

/** The pointer reads a cell and opens its feature; keys do the same. */
function connectHeatmap(/** @type {Heatmap} */ map) {
  const { plot, context } = map;
  const { canvas, tooltip } = plot;
  const cellAt = (event) => {
    const frame = canvas.getBoundingClientRect();
    const s = Math.floor((event.clientX - frame.left - plot.box.left) / map.wide);
    const r = Math.floor((event.clientY - frame.top - map.top) / map.tall);
    return r >= 0 && r < map.rows.length && s >= 0 ? [r, Math.min(s, map.samples.length - 1), s < map.samples.length] : null;
  };
  const show = ([r, s]) => {
    const { left } = plot.box;
    tooltip.show(left + (s + 0.5) * map.wide, map.top + (r + 0.5) * map.tall, cellLines(map, r, s));
  };
  canvas.addEventListener("pointermove", (event) => {
    const found = map.view && plot.width > 0 ? cellAt(event) : null;
    canvas.style.cursor = found ? "pointer" : "default";
    if (found?.[2]) show(/** @type {any} */ (found));
    else tooltip.hide();
  });
  canvas.addEventListener("pointerleave", tooltip.hide);
  canvas.addEventListener("click", (event) => {
    const found = cellAt(event);
    if (found) context.open(map.rows[Number(found[0])]);
  });
  canvas.addEventListener("blur", () => { map.cell = null; tooltip.hide(); paintHeatmap(map); });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if ((event.key === "Enter" || event.key === " ") && map.cell) {
      event.preventDefault();
      context.open(map.rows[map.cell[0]]);
    } else if (steps[event.key]) {
      event.preventDefault();
      const [down, right] = steps[event.key];
      const last = [map.rows.length - 1, map.samples.length - 1];
      map.cell = map.cell
        ? [Math.max(0, Math.min(last[0], map.cell[0] + down)), Math.max(0, Math.min(last[1], map.cell[1] + right))]
        : [0, 0];
      paintHeatmap(map);
      show(map.cell);
      context.announce(cellLines(map, ...map.cell).join(", "));
    }
  });
}
