// @ts-check

import { firstWhere } from "./numbers.js";

/** @import { Scale } from "./types.js" */

/** A scale from a domain to a range through a monotone transform; call it with a value, `invert` with a pixel. */
function makeScale(domain, range, forward, backward) {
  const start = forward(domain[0]);
  const span = forward(domain[1]) - start || 1;
  const scale = (value) => range[0] + ((forward(value) - start) / span) * (range[1] - range[0]);
  scale.invert = (pixel) => backward(start + ((pixel - range[0]) / (range[1] - range[0] || 1)) * span);
  scale.domain = domain;
  scale.range = range;
  return scale;
}

/** Linear scale. */
export function linearScale(domain, range) {
  return makeScale(domain, range, (x) => x, (x) => x);
}

/** Logarithmic scale; both ends of the domain are positive. */
export function logScale(domain, range) {
  return makeScale(domain, range, Math.log, Math.exp);
}

/** Scale that is linear near 0 (within about `width`) and logarithmic far from it. */
export function symlogScale(domain, range, width) {
  return makeScale(domain, range, (x) => Math.asinh(x / width), (t) => width * Math.sinh(t));
}

/** Scale of counts: log(1 + count), so that 0 has a place. */
export function countScale(domain, range) {
  return makeScale(domain, range, Math.log1p, Math.expm1);
}

/** The step 1, 2 or 5 times a power of ten that cuts a span in about `count` parts. */
function niceStep(span, count) {
  const raw = span / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const share = raw / power;
  return (share >= 7.5 ? 10 : share >= 3.5 ? 5 : share >= 1.5 ? 2 : 1) * power;
}

/** Round numbers between two ends, about `count` of them. */
export function niceTicks(low, high, count) {
  const step = niceStep(high - low, count);
  const ticks = [];
  const last = Math.floor(high / step + 1e-9);
  for (let k = Math.ceil(low / step - 1e-9); k <= last && ticks.length < 100; k += 1) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

/** A domain widened to round numbers. */
export function niceDomain(low, high, count = 5) {
  if (!(high > low)) return [low - 0.5, high + 0.5];
  const step = niceStep(high - low, count);
  const ends = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  return ends.map((end) => Number(end.toPrecision(12)));
}

/** Powers of ten in a positive domain; with few of them also their doubles and fives. */
export function logTicks(domain) {
  const ticks = [];
  const low = Math.floor(Math.log10(domain[0]) + 1e-9);
  const high = Math.ceil(Math.log10(domain[1]) - 1e-9);
  const parts = high - low <= 2 ? [1, 2, 5] : [1];
  for (let k = low; k <= high; k += 1) {
    for (const part of parts) {
      const tick = part * 10 ** k;
      if (tick >= domain[0] * 0.999 && tick <= domain[1] * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** Round numbers of a bent scale that lie at least `gap` pixels apart; 0 comes first, then the powers of ten. */
export function spacedTicks(/** @type {Scale} */ scale, gap) {
  const largest = Math.max(Math.abs(scale.domain[0]), Math.abs(scale.domain[1]));
  const candidates = [0];
  for (const part of [1, 5, 2]) {
    for (let power = 10 ** Math.floor(Math.log10(largest || 1)); power >= 1 && power > largest / 1e4; power /= 10) {
      candidates.push(part * power, -part * power);
    }
  }
  const kept = [];
  for (const tick of candidates) {
    if (tick < scale.domain[0] || tick > scale.domain[1]) continue;
    if (kept.every((other) => Math.abs(scale(other) - scale(tick)) >= gap)) kept.push(tick);
  }
  return kept.sort((a, b) => a - b);
}

/** Text of a tick: thousands with separators, a proper minus sign, no noise digits. */
export function tickText(value, large = 1e6) {
  const size = Math.abs(value);
  if (size >= large || (size > 0 && size < 1e-4)) {
    const [head, power] = value.toExponential(6).split("e");
    return `${Number(head)}e${Number(power)}`.replace(/-/g, "\u2212");
  }
  const text = size >= 1000 ? Math.round(size).toLocaleString("en-GB") : String(Number(size.toPrecision(10)));
  return value < 0 ? `\u2212${text}` : text;
}

/** Texts of linear ticks, all with as many decimals as the finest of them needs; large ones with powers of ten. */
export function tickTexts(ticks) {
  if (ticks.some((tick) => Math.abs(tick) >= 1e6)) {
    return ticks.map((tick) => (Math.abs(tick) >= 1e4 ? tickText(tick, 1e4) : tickText(tick)));
  }
  if (ticks.some((tick) => Math.abs(tick) >= 1000 || (tick !== 0 && Math.abs(tick) < 1e-4))) return ticks.map((tick) => tickText(tick));
  const decimals = Math.max(0, ...ticks.map((tick) => (String(tick).split(".")[1] || "").length));
  return ticks.map((tick) => (tick < 0 ? `\u2212${(-tick).toFixed(decimals)}` : tick.toFixed(decimals)));
}

/** Text of a share as a percentage. */
export function percentText(share, digits = 0) {
  return `${(100 * share).toFixed(digits)}%`;
}

/** Largest index whose value in a non-decreasing array is at most `limit` (-1 if none), up to `last`. */
export function lastAtMost(values, limit, last) {
  return firstWhere(last + 1, (k) => !(values[k] <= limit)) - 1;
}

/**
 * Smallest and largest finite value of several arrays; null if there is none.
 * @returns {[number, number] | null}
 */
export function finiteExtent(...arrays) {
  let low = Infinity;
  let high = -Infinity;
  for (const array of arrays) {
    for (let i = 0; i < array.length; i += 1) {
      const value = array[i];
      if (Number.isFinite(value)) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  return low <= high ? [low, high] : null;
}

/** Log of the gamma function for positive arguments (Lanczos). */
function logGamma(x) {
  const parts = [
    76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
    -0.5395239384953e-5,
  ];
  let sum = 1.000000000190015;
  parts.forEach((part, k) => { sum += part / (x + 1 + k); });
  const base = x + 5.5;
  return (x + 0.5) * Math.log(base) - base + Math.log((2.5066282746310007 * sum) / x);
}

/** Density function of Student's t with a location and a scale; normal if the degrees of freedom are infinite. */
export function studentDensity(dof, location, scale) {
  if (!(scale > 0) || !(dof > 0) || !Number.isFinite(location)) return null;
  if (dof > 1e6) {
    return (x) => Math.exp(-0.5 * ((x - location) / scale) ** 2) / (scale * Math.sqrt(2 * Math.PI));
  }
  const constant = logGamma((dof + 1) / 2) - logGamma(dof / 2) - 0.5 * Math.log(dof * Math.PI) - Math.log(scale);
  return (x) => Math.exp(constant - ((dof + 1) / 2) * Math.log1p(((x - location) / scale) ** 2 / dof));
}
