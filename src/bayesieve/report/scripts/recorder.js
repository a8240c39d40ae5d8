// @ts-check
// A recorder that stands in for the canvas of a chart and writes down what is drawn, as SVG.

/** @import { Recorder } from "./types.js" */

const SVG_BASELINES = { middle: "central", top: "text-before-edge", bottom: "text-after-edge", alphabetic: "auto" };
const SVG_ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };

/** A text that may stand in XML, in content or in an attribute; what XML has no place for is left out. */
export function xmlText(text) {
  const plain = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return plain.replace(/[&<>"']/g, (sign) => escapes[sign]);
}

/** A number in as few signs as a hundredth of a pixel needs. */
function svgNumber(value) {
  return String(Math.round(100 * value) / 100);
}

/** Whether a part of an image lies over its middle, so that it is drawn at all. */
function opacityOf(alpha) {
  return alpha < 1 ? ` opacity="${svgNumber(alpha)}"` : "";
}

/**
 * Make a recorder of a given size; `real` measures texts. Of the canvas only what the charts use is known.
 * @returns {Recorder}
 */
export function createRecorder(/** @type {CanvasRenderingContext2D} */ real, width, height) {
  const parts = /** @type {string[]} */ ([]);
  const state = { dash: /** @type {number[]} */ ([]), clips: 0, open: 0 };
  const saved = /** @type {any[]} */ ([]);
  let path = "";
  const point = (x, y) => `${svgNumber(x)} ${svgNumber(y)}`;
  const stroke = (recorder) => {
    const dash = state.dash.length ? ` stroke-dasharray="${state.dash.map(svgNumber).join(" ")}"` : "";
    return `fill="none" stroke="${xmlText(recorder.strokeStyle)}" stroke-width="${svgNumber(recorder.lineWidth)}"`
      + ` stroke-linejoin="${recorder.lineJoin}"${dash}${opacityOf(recorder.globalAlpha)}`;
  };
  const words = (recorder, text, x, y, paint) => {
    const [, weight = "400", size, family] = recorder.font.match(/^(?:(\d+|bold) )?([\d.]+)px (.*)$/) ?? [];
    return `<text x="${svgNumber(x)}" y="${svgNumber(y)}" font-family="${xmlText(family)}" font-size="${size}"`
      + ` font-weight="${weight}" text-anchor="${SVG_ANCHORS[recorder.textAlign]}"`
      + ` dominant-baseline="${SVG_BASELINES[recorder.textBaseline]}" ${paint}${opacityOf(recorder.globalAlpha)}>`
      + `${xmlText(text)}</text>`;
  };
  const recorder = {
    fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, lineJoin: "miter", globalAlpha: 1, font: "10px sans-serif",
    textAlign: "left", textBaseline: "alphabetic", imageSmoothingEnabled: true,
    setTransform: () => {},
    clearRect: () => { parts.length = 0; },
    beginPath: () => { path = ""; },
    moveTo: (x, y) => { path += `M${point(x, y)}`; },
    lineTo: (x, y) => { path += `${path ? "L" : "M"}${point(x, y)}`; },
    closePath: () => { path += "Z"; },
    rect: (x, y, w, h) => { path += `M${point(x, y)}h${svgNumber(w)}v${svgNumber(h)}h${svgNumber(-w)}Z`; },
    arc: (x, y, r) => {
      const [side, round] = [svgNumber(2 * r), svgNumber(r)];
      path += `M${point(x - r, y)}a${round} ${round} 0 1 0 ${side} 0a${round} ${round} 0 1 0 -${side} 0Z`;
    },
    fill: () => {
      parts.push(`<path d="${path}" fill="${xmlText(recorder.fillStyle)}"${opacityOf(recorder.globalAlpha)}/>`);
    },
    stroke: () => { parts.push(`<path d="${path}" ${stroke(recorder)}/>`); },
    setLineDash: (dash) => { state.dash = dash; },
    fillRect: (x, y, w, h) => {
      const [left, top] = [Math.min(x, x + w), Math.min(y, y + h)];
      parts.push(`<rect x="${svgNumber(left)}" y="${svgNumber(top)}" width="${svgNumber(Math.abs(w))}"`
        + ` height="${svgNumber(Math.abs(h))}" fill="${xmlText(recorder.fillStyle)}"${opacityOf(recorder.globalAlpha)}/>`);
    },
    strokeRect: (x, y, w, h) => {
      parts.push(`<rect x="${svgNumber(x)}" y="${svgNumber(y)}" width="${svgNumber(w)}" height="${svgNumber(h)}" `
        + `${stroke(recorder)}/>`);
    },
    fillText: (text, x, y) => {
      parts.push(words(recorder, text, x, y, `fill="${xmlText(recorder.fillStyle)}"`));
    },
    strokeText: (text, x, y) => { parts.push(words(recorder, text, x, y, stroke(recorder))); },
    measureText: (text) => {
      real.font = recorder.font;
      return real.measureText(text);
    },
    drawImage: (image, x, y, w, h) => {
      const { radius, fill, rim, hollow } = image.dataset;
      const [cx, cy] = [svgNumber(x + w / 2), svgNumber(y + h / 2)];
      if (radius) { // a point has its shape written on it
        const edge = rim ? ` stroke="${xmlText(rim)}" stroke-width="${hollow ? 1 : 0.75}"` : "";
        parts.push(`<circle cx="${cx}" cy="${cy}" r="${radius}" fill="${hollow ? "none" : xmlText(fill)}"${edge}/>`);
        return;
      }
      const sharp = recorder.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
      parts.push(`<image x="${svgNumber(x)}" y="${svgNumber(y)}" width="${svgNumber(w)}" height="${svgNumber(h)}"`
        + ` preserveAspectRatio="none"${sharp} href="${image.toDataURL("image/png")}"/>`);
    },
    save: () => { saved.push({ open: state.open, alpha: recorder.globalAlpha }); },
    clip: () => {
      state.clips += 1;
      state.open += 1;
      parts.push(`<clipPath id="clip-${state.clips}"><path d="${path}"/></clipPath><g clip-path="url(#clip-${state.clips})">`);
    },
    restore: () => {
      const { open, alpha } = saved.pop();
      parts.push("</g>".repeat(state.open - open));
      Object.assign(recorder, { globalAlpha: alpha });
      state.open = open;
    },
    svg: (title) => {
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
        + ` role="img"><title>${xmlText(title)}</title><rect width="100%" height="100%" fill="#fff"/>`
        + `${parts.join("")}${"</g>".repeat(state.open)}</svg>`;
    },
  };
  return recorder;
}
