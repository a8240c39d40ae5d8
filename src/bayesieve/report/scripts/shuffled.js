// @ts-check
// Shuffled labels: how many features pass a cut with them, and how many come as far as each feature.

import { decodedOnce, firstWhere } from "./numbers.js";

/** @import { Estimate, Payload, Shuffled } from "./types.js" */

const TIE = 1e-9; // values that agree to this reach each other
const ENDS = [(1 - 0.9) / 2, (1 + 0.9) / 2];

/**
 * What shuffled labels gave; null if they were not shuffled.
 * @returns {Shuffled | null}
 */
export function createShuffled(/** @type {Payload} */ { shuffled }, own) {
  if (!shuffled) {
    return null;
  }
  const { n } = shuffled;
  const reached = decodedOnce(shuffled.reached);
  return {
    n,
    least: Number(shuffled.least),
    cut: decodedOnce(shuffled.cut),
    counts: decodedOnce(shuffled.counts),
    own,
    reached,
    share: shareOf(own, reached, n),
  };
}

/** False discovery rate down to each feature if there were no markers: at most 1, and never falling down the ranking. */
function shareOf(own, reached, n) {
  const share = new Float64Array(own.length);
  let after = 0;
  for (let i = 0; i < own.length; i += 1) {
    const least = own[i] - TIE * (1 + Math.abs(own[i]));
    after = Math.max(after, i + 1);
    while (after < own.length && own[after] >= least) {
      after += 1;
    }
    share[i] = reached[i] / n / after;
  }
  let least = 1;
  for (let i = own.length - 1; i >= 0; i -= 1) {
    least = Math.min(least, share[i]);
    share[i] = least;
  }
  return share;
}

/** Numbers of features over a cut, of every shuffle, from the smallest to the largest. */
function countsOver(/** @type {Shuffled} */ { n, cut, counts }, x) {
  const row = Math.max(0, firstWhere(cut.length, (k) => cut[k] > x) - 1);
  return counts.subarray(row * n, (row + 1) * n);
}

/** The quantile of sorted numbers that NumPy calls inverted_cdf. */
function quantile(sorted, probability) {
  const place = sorted.length * probability - 1;
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(place)))];
}

/**
 * False positives of a list cut at x: mean, 90% interval, and how many shuffles give a list as long.
 * A list that ends at a limit of false positives claims what passes there, before the next feature does.
 */
export function estimateAt(/** @type {Shuffled} */ shuffled, x, nullShare, size, limit = 0) {
  if (x === Infinity) {
    return { expected: 0, low: 0, high: 0, step: 0, asLong: shuffled.n, hitRate: 1, counts: [] };
  }
  const sorted = countsOver(shuffled, x);
  const sum = sorted.reduce((total, count) => total + count, 0);
  const [low, high] = ENDS.map((end) => nullShare * quantile(sorted, end));
  const { n, own, least, reached } = shuffled;
  const kept = Math.min(size, firstWhere(own.length, (i) => !(own[i] > least)));
  const asLong = n - firstWhere(n, (k) => sorted[k] >= kept);
  const weak = size > 0 && x < least; // weaker features were not kept of the shuffles, only how many come as far
  const there = (nullShare * (weak ? reached[size - 1] : sum)) / n;
  const beyond = size > 0 && size < own.length ? (nullShare * reached[size]) / n : 0;
  const expected = Math.max(there, Math.min(limit, beyond));
  const most = 0.1 * size * (1 + 1e-12);
  const hitRate = firstWhere(shuffled.n, (k) => nullShare * sorted[k] > most) / shuffled.n;
  const counts = Array.from(sorted, (count) => Math.round(nullShare * count));
  const top = weak || expected > there ? Math.max(high, expected) : high;
  return { expected, low, high: top, step: nullShare / n, asLong, hitRate, counts };
}

/** The numbers of false positives that shuffled labels give, as a distribution. */
export function shuffledDistribution(/** @type {Estimate} */ { counts, low, high }) {
  const lowest = counts[0] ?? 0;
  const pmf = new Float64Array((counts[counts.length - 1] ?? 0) - lowest + 1);
  counts.forEach((count) => { pmf[count - lowest] += 1 / counts.length; });
  return { lowest, pmf, low: Math.round(low), high: Math.round(high) };
}

/** Expected false positives among the first features, for every number of them. */
export function expectedDownTo(/** @type {Shuffled} */ { reached, n }, nullShare) {
  const expected = new Float64Array(reached.length + 1);
  for (let i = 0; i < reached.length; i += 1) {
    expected[i + 1] = (nullShare * reached[i]) / n;
  }
  return expected;
}

/** The same from the false discovery rate, which never falls. */
export function expectedByRate(/** @type {Shuffled} */ { share }, nullShare) {
  const expected = new Float64Array(share.length + 1);
  for (let i = 0; i < share.length; i += 1) {
    expected[i + 1] = nullShare * share[i] * (i + 1);
  }
  return expected;
}

/** False positives among the first features that so many shuffles stay within; of features with evidence only. */
export function boundDownTo(/** @type {Shuffled} */ shuffled, nullShare, confidence) {
  const { own, least } = shuffled;
  const n = firstWhere(own.length, (i) => !(own[i] > least));
  const bound = new Float64Array(n + 1);
  for (let i = 0; i < n; i += 1) {
    const before = own[i] - 1e-13 * (1 + Math.abs(own[i]));
    bound[i + 1] = nullShare * quantile(countsOver(shuffled, before), confidence);
  }
  return bound;
}
