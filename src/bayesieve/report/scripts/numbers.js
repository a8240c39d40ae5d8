"use strict";

// Numbers: from the payload into typed arrays, between log-odds and probabilities, and into words.

const ARRAY_TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };
const MINUS = "\u2212";
const ABSENT = "\u2013";

/** Decode {"type", "data"} (base64, little-endian) into a typed array; null stays null. */
function decodeArray(encoded) {
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

/** Probability of log-odds; expit(-x) is the accurate complement. */
function expit(x) {
  const small = Math.exp(-Math.abs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}

/** Log-odds of a probability; infinite at 0 and 1. */
function logit(p) {
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
function formatNumber(x, digits = 3) {
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

/** Drop zeros at the end of a decimal fraction. */
function stripZeros(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A number with a fixed number of decimals: 1,234.50. */
function formatFixed(x, decimals) {
  if (!Number.isFinite(x)) {
    return formatNumber(x);
  }
  const [whole, part] = Math.abs(x).toFixed(decimals).split(".");
  const text = groupThousands(whole) + (part ? `.${part}` : "");
  return x < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

/** A chance in per cent that never pretends to be certain: 76%, >99.9%, <0.1%. */
function formatChance(p) {
  if (p === null || p === undefined || Number.isNaN(p)) {
    return ABSENT;
  }
  if (p > 0.999 || p < 0.001) {
    return p > 0.5 ? ">99.9%" : "<0.1%";
  }
  return `${(100 * p).toFixed(p > 0.99 || p < 0.1 ? 1 : 0)}%`;
}

/** A number of things: 20,000. */
function formatCount(n) {
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
function formatProbability(p, logOdds) {
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
function formatSigned(x, digits = 3) {
  const text = formatNumber(x, digits);
  return x > 0 ? `+${text}` : text;
}

/** A number as Python's format "g" writes it: six significant digits, no zeros at the end. */
function formatGeneral(x) {
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
