// @ts-check
// Charts as files: PNG and SVG on white, and a sheet of the strongest features.

import { fileNameFrom, saveBlob } from "./columns.js";
import { createFeaturePlot } from "./feature_plot.js";
import { formatCount, shorten, shownName } from "./numbers.js";
import { contextOf } from "./plot.js";
import { PLOT_FONT } from "./pointing.js";
import { createRecorder } from "./recorder.js";

/** @import { Page, SavedChart } from "./types.js" */

const SHEET_SIZE = 12;
const SHEET_ACROSS = 4;
const SHEET_CELL = { width: 400, height: 330 };

/** Draw something in the colours of paper, on white, at twice the resolution; the page is as before afterwards. */
function inSavedColours(draw) {
  const root = document.documentElement;
  root.dataset.saving = "true";
  try {
    return draw();
  } finally {
    delete root.dataset.saving;
  }
}

/** A canvas on white with the chart on it. */
function onWhite(/** @type {HTMLCanvasElement} */ canvas) {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const ctx = contextOf(copy);
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, copy.width, copy.height);
  ctx.drawImage(canvas, 0, 0);
  return copy;
}

/** A chart as a canvas on white. */
function chartCanvas(/** @type {SavedChart} */ chart) {
  const copy = inSavedColours(() => { chart.redraw(); return onWhite(chart.plot.canvas); });
  chart.redraw();
  return copy;
}

/** A chart as SVG. */
function chartSvg(/** @type {SavedChart} */ chart, title) {
  const { plot } = chart;
  const real = plot.ctx;
  const recorder = createRecorder(real, plot.width, plot.height);
  const text = inSavedColours(() => {
    plot.ctx = /** @type {any} */ (recorder);
    try {
      chart.redraw();
    } finally {
      plot.ctx = real;
    }
    return recorder.svg(title);
  });
  chart.redraw();
  return text;
}

/** Give every chart two buttons to save it, and the sheet its own. */
export function connectSaving(/** @type {Page} */ page) {
  const { payload, context } = page;
  for (const [name, chart] of Object.entries(page.charts)) {
    const figure = chart.element.closest("figure");
    const heading = figure?.querySelector("h3, h4");
    if (!figure || !heading) continue;
    const box = document.createElement("div");
    box.className = "chart-save";
    for (const kind of ["PNG", "SVG"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet small";
      button.textContent = kind;
      button.dataset.save = `${name}.${kind.toLowerCase()}`;
      button.setAttribute("aria-label", `Save ${heading.textContent} as ${kind}`);
      button.addEventListener("click", async () => {
        const file = fileNameFrom(payload.title, `-${name}.${kind.toLowerCase()}`);
        const saved = /** @type {SavedChart} */ (chart);
        const blob = kind === "SVG"
          ? new Blob([chartSvg(saved, `${heading.textContent}: ${payload.title}`)], { type: "image/svg+xml" })
          : await pngOf(chartCanvas(saved));
        saveBlob(blob, file);
        context.announce(`${heading.textContent} written to ${file}.`);
      });
      box.append(button);
    }
    figure.querySelector("figcaption")?.prepend(box);
  }
  const sheet = document.getElementById("save-sheet");
  sheet?.addEventListener("click", async () => {
    const file = fileNameFrom(payload.title, "-top.png");
    saveBlob(await pngOf(contactSheet(page)), file);
    context.announce(`The strongest features written to ${file}.`);
  });
}

/** The picture of a canvas as a file. */
function pngOf(/** @type {HTMLCanvasElement} */ canvas) {
  return new Promise((done) => { canvas.toBlob((blob) => done(blob), "image/png"); });
}

/** The strongest features side by side, as many as fit on a slide. */
export function contactSheet(/** @type {Page} */ page) {
  const { payload, context, view } = page;
  const shown = Math.min(SHEET_SIZE, payload.names.length);
  const [across, down] = [Math.min(SHEET_ACROSS, shown), Math.ceil(shown / SHEET_ACROSS)];
  const holder = document.createElement("div");
  Object.assign(holder.style, {
    position: "fixed", left: "-10000px", top: "0", width: `${SHEET_CELL.width}px`, height: `${SHEET_CELL.height}px`,
  });
  document.body.append(holder);
  const sheet = document.createElement("canvas");
  const head = 30;
  sheet.width = 2 * across * SHEET_CELL.width;
  sheet.height = 2 * (down * (SHEET_CELL.height + head));
  const ctx = contextOf(sheet);
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, sheet.width, sheet.height);
  ctx.scale(2, 2);
  inSavedColours(() => {
    const chart = createFeaturePlot(holder, context);
    for (let k = 0; k < shown; k += 1) {
      const [x, y] = [(k % SHEET_ACROSS) * SHEET_CELL.width, Math.floor(k / SHEET_ACROSS) * (SHEET_CELL.height + head)];
      chart.update({ ...view, state: { ...view.state, feature: k } });
      chart.redraw();
      ctx.fillStyle = "#17202b";
      ctx.font = `600 16px ${PLOT_FONT}`;
      ctx.fillText(shorten(`${formatCount(k + 1)}. ${shownName(payload.names[k])}`, 46), x + 14, y + 21);
      const { plot } = chart; // many classes make a chart high: it keeps its shape
      const scale = Math.min(SHEET_CELL.width / plot.width, SHEET_CELL.height / plot.height);
      ctx.drawImage(plot.canvas, x, y + head, scale * plot.width, scale * plot.height);
    }
  });
  holder.remove();
  return sheet;
}

