// @ts-check
// Distribution: how many of the features of a list may be non-markers, exactly, if features are independent.

import { TINY } from "./numbers.js";

/** @import { Evidence, Distribution, Solution, State, Weights } from "./types.js" */

const NEGLIGIBLE = 1e-30; // ends of a distribution below this are dropped
const MANY_COINS = 4096; // from here on the distribution is put together from pieces: quicker, the same to rounding
const COINS_AT_ONCE = 512;
const INTERVAL_LEVEL = 0.9;
const HIT_RATE = 0.9;
const MARGIN = 1e-9; // bounds decide only where they leave this much room

/** Add one coin to the distribution held in mass[low:high]; all terms are positive, so tails stay accurate. */
function addCoin(mass, low, high, p, q) {
  let above = mass[high - 1];
  mass[high] = above * p;
  for (let k = high - 1; k > low; k -= 1) {
    const below = mass[k - 1];
    mass[k] = above * q + below * p;
    above = below;
  }
  mass[low] = above * q;
}

/** Drop the lower end of a distribution as far as it is negligible; returns the new lower end. */
function trimLow(mass, low, high) {
  let start = low;
  while (high - start > 1 && mass[start] < NEGLIGIBLE) {
    mass[start] = 0;
    start += 1;
  }
  return start;
}

/** Drop the upper end of a distribution as far as it is negligible; returns the new upper end. */
function trimHigh(mass, low, high) {
  let end = high;
  while (end - low > 1 && mass[end - 1] < NEGLIGIBLE) {
    mass[end - 1] = 0;
    end -= 1;
  }
  return end;
}

/** Distribution of the number of successes of coins with probabilities p and complements q, added in the given order. */
export function poissonBinomial(p, q) {
  if (p.length <= MANY_COINS) {
    return distributionOfCoins(p, q);
  }
  let distributions = [];
  for (let start = 0; start < p.length; start += COINS_AT_ONCE) {
    const end = start + COINS_AT_ONCE;
    distributions.push(distributionOfCoins(p.subarray(start, end), q.subarray(start, end)));
  }
  while (distributions.length > 1) {
    const joined = [];
    for (let i = 0; i < distributions.length; i += 2) {
      joined.push(i + 1 < distributions.length ? distributionOfSum(distributions[i], distributions[i + 1]) : distributions[i]);
    }
    distributions = joined;
  }
  return distributions[0];
}

/** The same, coin by coin. */
function distributionOfCoins(p, q) {
  const mass = new Float64Array(p.length + 2);
  mass[0] = 1;
  let low = 0;
  let high = 1;
  let certain = 0;
  for (let i = 0; i < p.length; i += 1) {
    if (p[i] === 1) {
      certain += 1;
    } else if (p[i] > 0) {
      addCoin(mass, low, high, p[i], q[i]);
      high += 1;
      low = trimLow(mass, low, high);
      high = trimHigh(mass, low, high);
    }
  }
  return { lowest: certain + low, pmf: mass.slice(low, high) };
}

/** Distribution of the sum of two independent numbers. */
function distributionOfSum(/** @type {Distribution} */ one, /** @type {Distribution} */ other) {
  const mass = new Float64Array(one.pmf.length + other.pmf.length - 1);
  for (let i = 0; i < one.pmf.length; i += 1) {
    const factor = one.pmf[i];
    for (let k = 0; k < other.pmf.length; k += 1) {
      mass[i + k] += factor * other.pmf[k];
    }
  }
  const low = trimLow(mass, 0, mass.length);
  const high = trimHigh(mass, low, mass.length);
  return { lowest: one.lowest + other.lowest + low, pmf: mass.slice(low, high) };
}

/** Probabilities of the first features of the ranking, those nearest to certainty first: a narrow window. */
function nearCertainFirst(/** @type {Weights} */ weights, size) {
  const { nullProbability, probability } = weights;
  const p = new Float64Array(size);
  const q = new Float64Array(size);
  let first = 0;
  let last = size - 1;
  for (let i = 0; i < size; i += 1) {
    const fromStart = Math.min(nullProbability[first], probability[first]);
    const fromEnd = Math.min(nullProbability[last], probability[last]);
    const chosen = fromStart <= fromEnd ? first : last;
    p[i] = nullProbability[chosen];
    q[i] = probability[chosen];
    first += chosen === first ? 1 : 0;
    last -= fromStart <= fromEnd ? 0 : 1;
  }
  return [p, q];
}

/** Distribution of the number of false positives of a list, with its 90% interval and the chance of a hit rate of 0.9. */
export function distributionOf(
  /** @type {Evidence} */ evidence, /** @type {State} */ state, /** @type {Solution} */ solution,
) {
  const weights = evidence.weights(state);
  const key = `${weights.key} ${solution.size}`;
  if (evidence.lastDistribution && evidence.lastDistribution.key === key) {
    return evidence.lastDistribution;
  }
  const distribution = poissonBinomial(...nearCertainFirst(weights, solution.size));
  const tail = (1 - INTERVAL_LEVEL) / 2;
  evidence.lastDistribution = {
    key,
    lowest: distribution.lowest,
    pmf: distribution.pmf,
    low: distributionQuantile(distribution, tail),
    high: distributionQuantile(distribution, 1 - tail),
    hitRate: distributionAtMost(distribution, (1 - HIT_RATE) * solution.size + 1e-9),
  };
  return evidence.lastDistribution;
}

/** Smallest number whose cumulative probability reaches a level. */
function distributionQuantile(/** @type {Distribution} */ distribution, level) {
  const { lowest, pmf } = distribution;
  const target = level * (1 - 1e-15) - TINY;
  let reached = 0;
  for (let k = 0; k < pmf.length; k += 1) {
    reached += pmf[k];
    if (reached >= target) {
      return lowest + k;
    }
  }
  return lowest + pmf.length - 1;
}

/** Probability of at most so many. */
function distributionAtMost(/** @type {Distribution} */ distribution, number) {
  const { lowest, pmf } = distribution;
  const last = Math.floor(Math.min(number, lowest + pmf.length)) - lowest;
  return Math.min(1, sumBetween(pmf, 0, Math.min(last + 1, pmf.length)));
}

/** Sum of mass[start:end]. */
function sumBetween(mass, start, end) {
  let total = 0;
  for (let k = start; k < end; k += 1) {
    total += mass[k];
  }
  return total;
}

/** Number of false positives that a list of k features may hold. */
function allowedFalse(proportion, k) {
  return Math.floor(proportion * k + 1e-9);
}

/** Longest beginning whose share of false ones is in bounds with a probability; found from the end. */
export function longestSurePrefix(/** @type {Weights} */ weights, proportion, confidence) {
  const verdict = boundedVerdicts(weights, proportion, confidence);
  const longest = verdict.lastIndexOf(1) + 1;
  let end = verdict.lastIndexOf(0) + 1;
  for (let width = COINS_AT_ONCE; end > longest; width *= 4) {
    const start = confidence < 1 - MARGIN && end > 4 * width ? end - width : 0;
    const found = lastSure(weights, verdict, start, end, proportion, confidence);
    if (found) {
      return Math.max(found, longest);
    }
    end = start;
  }
  return longest;
}

/** Longest beginning of more than start and at most end features that is sure; 0 if there is none. */
function lastSure(/** @type {Weights} */ weights, verdict, start, end, proportion, confidence) {
  const { nullProbability, probability } = weights;
  const most = allowedFalse(proportion, end);
  const distribution = poissonBinomial(...nearCertainFirst(weights, start));
  const mass = new Float64Array(most + 4);
  mass.set(distribution.pmf.subarray(0, Math.max(0, most + 2 - distribution.lowest)), Math.min(distribution.lowest, most + 4));
  let low = distribution.lowest;
  let high = Math.min(low + distribution.pmf.length, most + 2); // what is over all bounds never comes back
  let longest = 0;
  for (let i = start; i < end && low <= most; i += 1) {
    addCoin(mass, low, high, nullProbability[i], probability[i]);
    high += 1;
    low = trimLow(mass, low, high);
    high = trimHigh(mass, low, high);
    if (verdict[i] === 0 && isSure(mass, low, high, allowedFalse(proportion, i + 1), confidence)) {
      longest = i + 1;
    }
    high = Math.min(high, most + 2);
  }
  return longest;
}

/** Whether a number is at most the allowed one with the wanted probability. */
function isSure(mass, low, high, allowed, confidence) {
  let reached = allowed < low ? 0 : 1;
  if (low <= allowed && allowed < high - 1) {
    reached = sumBetween(mass, low, allowed + 1);
  }
  return reached >= confidence;
}

/** What Cantelli's and Bernstein's inequalities say of every beginning: 1 sure, -1 not sure, 0 to be found. */
function boundedVerdicts(/** @type {Weights} */ weights, proportion, confidence) {
  const { nullProbability, probability, cumulativeFalse } = weights;
  const n = probability.length;
  const verdict = new Int8Array(n);
  let variance = 0;
  for (let i = 0; i < n; i += 1) {
    variance += nullProbability[i] * probability[i];
    const allowed = allowedFalse(proportion, i + 1);
    const below = cumulativeFalse[i + 1] - allowed;
    if (allowed > i || confidence <= 0) {
      verdict[i] = 1;
    } else if (below > 0) {
      verdict[i] = tailBound(below, variance) < confidence * (1 - MARGIN) ? -1 : 0;
    } else if (below < 0) {
      verdict[i] = 1 - tailBound(1 - below, variance) > confidence + MARGIN ? 1 : 0;
    }
  }
  return verdict;
}

/** Upper bound on the probability that a sum of coins lies so far on one side of its mean. */
function tailBound(distance, variance) {
  const square = distance * distance;
  return Math.min(variance / (variance + square), Math.exp((-0.5 * square) / (variance + distance / 3)));
}
