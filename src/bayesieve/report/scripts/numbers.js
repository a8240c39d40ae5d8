// @ts-check
// Numbers: from the payload into typed arrays, between log-odds and probabilities, and into words.

/** @import { Encoded, Payload } from "./types.js" */

const ARRAY_TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };
const MINUS = "\u2212";
export const ABSENT = "\u2013";
export const SINGLE_DIGITS = 7; // significant digits that single precision keeps
export const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
export const UNSEEN_INLINE = new RegExp(`(?![\\t\\n\\r])${UNSEEN.source}`); // line breaks and tabs of a text are its own
export const UNSEEN_ALL = new RegExp(UNSEEN.source, "g");
const decodedArrays = new WeakMap();
export const TINY = 1e-300;

/** A name as it is shown: characters that control the text or turn its direction are written out, ⟨U+202E⟩. */
export function shownName(name) {
  const text = String(name);
  if (!UNSEEN.test(text)) {
    return text;
  }
  return text.replace(UNSEEN_ALL, (sign) => `\u27e8U+${unicodeDigits(sign).toUpperCase()}\u27e9`);
}

/** The number of a character in four hexadecimal digits. */
export function unicodeDigits(sign) {
  return sign.charCodeAt(0).toString(16).padStart(4, "0");
}

/** Decode {"type", "data"} (base64, little-endian) into a typed array; null stays null. */
export function decodeArray(/** @type {Encoded | null | undefined} */ encoded) {
  if (encoded === null || encoded === undefined) {
    return null;
  }
  const text = atob(encoded.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) {
    bytes[i] = text.charCodeAt(i);
  }
  const Kind = ARRAY_TYPES[encoded.type];
  return new Kind(bytes.buffer, 0, Math.floor(bytes.length / Kind.BYTES_PER_ELEMENT));
}

/** Decode an encoded array of the payload once; numbers and null stay as they are. */
export function decodedOnce(encoded) {
  if (encoded === null || encoded === undefined || typeof encoded !== "object") {
    return encoded ?? null;
  }
  if (!decodedArrays.has(encoded)) {
    decodedArrays.set(encoded, decodeArray(encoded));
  }
  return decodedArrays.get(encoded);
}

/** Probability of log-odds; expit(-x) is the accurate complement. */
export function expit(x) {
  const small = Math.exp(-Math.abs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}

/** Log-odds of a probability; infinite at 0 and 1. */
export function logit(p) {
  if (p <= 0) {
    return -Infinity;
  }
  return p >= 1 ? Infinity : Math.log(p) - Math.log1p(-p);
}

/** Put commas between the thousands of the digits of a whole number. */
function groupThousands(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number for people, with so many significant digits: 0.0012, 1.2e-9, 20,000. */
export function formatNumber(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) {
    return ABSENT;
  }
  const size = Math.abs(x);
  const sign = x < 0 ? MINUS : "";
  if (size === Infinity) {
    return `${sign}\u221e`;
  }
  if (size === 0) {
    return "0";
  }
  const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 9) {
    return `${sign}${stripZeros(mantissa)}e${power}`;
  }
  if (power >= digits - 1) {
    return sign + groupThousands(size.toFixed(0));
  }
  const [whole, part] = size.toFixed(digits - 1 - power).split(".");
  return sign + stripZeros(`${groupThousands(whole)}.${part}`);
}

/** An expected number of features: nothing is claimed to be smaller than a hundredth. */
export function formatExpected(x, digits = 3) {
  return typeof x === "number" && x > 0 && x < 0.01 ? "under 0.01" : formatNumber(x, digits);
}

/** A number for a place with little room: from a million on with a power of ten. */
export function formatCompact(x, digits = 3) {
  if (!Number.isFinite(x) || Math.abs(x) < 1e6) {
    return formatNumber(x, digits);
  }
  const [mantissa, exponent] = Math.abs(x).toExponential(digits - 1).split("e");
  return `${x < 0 ? MINUS : ""}${stripZeros(mantissa)}e${Number(exponent)}`;
}

/** Numbers for people, with as many digits more than usual as it takes to tell different ones apart. */
export function formatApart(values, digits, most) {
  const wanted = new Set(values).size;
  let texts = values.map((x) => formatNumber(x, digits));
  for (let more = digits + 1; more <= most && new Set(texts).size < wanted; more += 1) {
    texts = values.map((x) => formatNumber(x, more));
  }
  return texts;
}

/** Drop zeros at the end of a decimal fraction. */
function stripZeros(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A number with a fixed number of decimals: 1,234.50. */
export function formatFixed(x, decimals) {
  if (!Number.isFinite(x)) {
    return formatNumber(x);
  }
  const [whole, part] = Math.abs(x).toFixed(decimals).split(".");
  const text = groupThousands(whole) + (part ? `.${part}` : "");
  return x < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

/** A chance in per cent that never pretends to be certain: 76%, >99.9%, <0.1%. */
export function formatChance(p) {
  if (p === null || p === undefined || Number.isNaN(p)) {
    return ABSENT;
  }
  if (p > 0.999 || p < 0.001) {
    return p > 0.5 ? ">99.9%" : "<0.1%";
  }
  return `${(100 * p).toFixed(p > 0.99 || p < 0.1 ? 1 : 0)}%`;
}

/** A number of things: 20,000. */
export function formatCount(n) {
  if (n === null || n === undefined || Number.isNaN(n)) {
    return ABSENT;
  }
  if (!Number.isFinite(n)) {
    return formatNumber(n);
  }
  const rounded = Math.round(Math.abs(n));
  return (n < 0 && rounded ? MINUS : "") + groupThousands(rounded.toFixed(0));
}

/** A probability to four places that never pretends to be certain; log-odds, if given, are what counts. */
export function formatProbability(p, logOdds) {
  const value = typeof logOdds === "number" ? expit(logOdds) : p;
  if (value === null || value === undefined || Number.isNaN(value)) {
    return ABSENT;
  }
  if (value > 0.9999) {
    return ">0.9999";
  }
  return value < 0.0001 ? "<0.0001" : value.toFixed(4);
}

/** A number with its sign: +1.2, −0.3, 0. */
export function formatSigned(x, digits = 3) {
  const text = formatNumber(x, digits);
  return x > 0 ? `+${text}` : text;
}

/** A number as Python's format "g" writes it: six significant digits, no zeros at the end. */
export function formatGeneral(x) {
  if (!Number.isFinite(x)) {
    return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
  }
  if (x === 0) {
    return "0";
  }
  const [mantissa, exponent] = x.toExponential(5).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) {
    return stripZeros(x.toFixed(5 - power));
  }
  const places = String(Math.abs(power)).padStart(2, "0");
  return `${stripZeros(mantissa)}e${power < 0 ? "-" : "+"}${places}`;
}

/** A number expected under the global null; one below what a simulation can resolve is said to be less than that. */
export function formatUnderNull(x, /** @type {Payload} */ payload, less = "<") {
  const resolution = payload.under_null ? payload.under_null.resolution : null;
  const untold = typeof resolution === "number" && x !== null && x < resolution / 2;
  return untold && resolution >= 0.01 ? `${less}${formatNumber(resolution, 2)}` : formatExpected(x);
}

/** A text cut to a length. */
export function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** First of the places 0 to n-1 at which a condition holds that goes on to hold; n if there is none. */
export function firstWhere(n, holds) {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
