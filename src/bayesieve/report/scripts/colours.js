// @ts-check

import { contextOf } from "./plot.js";

/** @type {CanvasRenderingContext2D | null} */
let colourContext = null;

/** Red, green, blue of a resolved colour. */
export function colourParts(colour) {
  const context = colourContext || contextOf(document.createElement("canvas"));
  colourContext = context;
  context.fillStyle = "#808080";
  context.fillStyle = colour;
  const text = String(context.fillStyle);
  if (text[0] === "#") return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  return (text.match(/[\d.]+/g) || [128, 128, 128]).slice(0, 3).map(Number);
}

/** Colours from one to another, evenly by lightness, chroma and hue (OKLCh): between two hues there is no grey. */
export function colourScale(/** @type {number[]} */ first, /** @type {number[]} */ last, count) {
  const [a, b] = [oklchOf(first), oklchOf(last)];
  const turn = ((((b[2] - a[2]) % 360) + 540) % 360) - 180; // the shorter way round
  return Array.from({ length: count }, (_, k) => {
    const share = k / (count - 1);
    return rgbOf([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * turn]);
  });
}

/** Lightness, chroma and hue (in degrees) of red, green, blue. */
export function oklchOf(/** @type {number[]} */ [red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const light = 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
  const x = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const y = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  return [light, Math.hypot(x, y), (Math.atan2(y, x) * 180) / Math.PI];
}

/** Red, green, blue of lightness, chroma and hue; what no screen can show is cut off. */
export function rgbOf(/** @type {number[]} */ [light, chroma, hue]) {
  const [x, y] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const long = (light + 0.3963377774 * x + 0.2158037573 * y) ** 3;
  const medium = (light - 0.1055613458 * x - 0.0638541728 * y) ** 3;
  const short = (light - 0.0894841775 * x - 1.291485548 * y) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ].map((part) => {
    const shown = part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, shown)));
  });
}
