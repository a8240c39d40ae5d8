// @ts-check
// Rules: which features make the list under any rule, prior probability and prior ratio.
// Every list is a beginning of the rank order, since a change of the prior moves all log-odds alike.

import { longestSurePrefix } from "./distribution.js";
import { decodedOnce, expit, firstWhere, formatGeneral, logit, TINY } from "./numbers.js";
import { boundDownTo, createShuffled, estimateAt, expectedByRate, expectedDownTo } from "./shuffled.js";

/** @import { NullTable, Evidence, Payload, State, Weights } from "./types.js" */

const ROUNDING = 1e-12; // sums that agree to this are equal
export const RULE_NUMBERS = {
  mnc: [],
  mr: ["threshold"],
  cmnc: ["n_selected"],
  np: ["expected_false_positives"],
  fdr: ["proportion"],
  fdp: ["proportion", "confidence"],
};

/** What the data say, ready to be weighed with any prior; weights(state) keeps the last two answers. */
export function createEvidence(/** @type {Payload} */ payload) {
  const logBayesFactor = decodedOnce(payload.log_bayes_factor);
  const priors = sharesPrior(payload) ? null : decodedOnce(payload.prior_log_odds);
  /** @type {Evidence} */
  const evidence = {
    n: logBayesFactor.length,
    logBayesFactor,
    priors,
    priorProbability: priors ? null : payload.prior.probability,
    priorLogOdds: priors ? NaN : storedLogOdds(payload.prior),
    ratio: payload.ratio,
    underNull: payload.under_null && {
      cut: decodedOnce(payload.under_null.cut),
      logExpected: decodedOnce(payload.under_null.log_expected),
    },
    stored: logBayesFactor,
    shuffled: null,
    ofTheRun: null,
    slots: [],
    lastSolution: null,
    lastDistribution: null,
    logOdds: (state) => weigh(evidence, state).logOdds,
    weights: (state) => weigh(evidence, state),
    shift: (state) => shiftOf(evidence, state),
  };
  evidence.stored = Float64Array.from(logBayesFactor, (x, i) => (priors ? priors[i] : evidence.priorLogOdds) + x);
  evidence.shuffled = createShuffled(payload, payload.shuffled?.by_feature ? evidence.stored : logBayesFactor);
  return evidence;
}

/** Keep the list of the run, which shuffled labels may have shortened, for the state that it belongs to. */
export function keepList(/** @type {Evidence} */ evidence, /** @type {Payload} */ payload, /** @type {State} */ stored) {
  const { list } = payload;
  if (list) {
    const cut = typeof list.cut === "number" ? list.cut : Number(list.cut ?? Infinity);
    evidence.ofTheRun = { key: keyOf(stored), size: list.size, cut, tiedOut: list.tied_out, claim: list.claim };
  }
}

/** What decides a list. */
function keyOf(/** @type {State} */ state) {
  return [priorKey(state), state.rule, ...RULE_NUMBERS[state.rule].map((name) => state[name])].join(" ");
}

/** What decides the log-odds. */
function priorKey(/** @type {State} */ state) {
  return `${state.prior} ${state.odds_factor} ${state.ratio}`;
}

/** Share of non-markers believed in. */
function nullShareOf(/** @type {Evidence} */ evidence, /** @type {State} */ state) {
  const { priors } = evidence;
  if (!priors) {
    return expit(-logOddsOf(evidence, state.prior));
  }
  const factor = Math.log(state.odds_factor);
  return priors.reduce((sum, prior) => sum + expit(-(prior + factor)), 0) / priors.length;
}

/** False positives of a list from shuffled labels; null if they were not shuffled. */
function estimateOf(/** @type {Evidence} */ evidence, /** @type {State} */ state, { size, cut, limit }) {
  const { shuffled, priors } = evidence;
  if (!shuffled) {
    return null;
  }
  const shared = priors ? Math.log(state.odds_factor) : logOddsOf(evidence, state.prior);
  const x = cut === Infinity ? cut : cut - shared - ratioPart(evidence, state);
  return estimateAt(shuffled, x, nullShareOf(evidence, state), size, limit);
}

/** False positives to expect among the strongest n features, whatever the rule. */
export function falseAmong(/** @type {Evidence} */ evidence, /** @type {State} */ state, n) {
  const { logOdds, cumulativeFalse } = weigh(evidence, state);
  const found = estimateOf(evidence, state, { size: n, cut: n ? logOdds[n - 1] : Infinity, limit: 0 });
  return found ?? { expected: cumulativeFalse[n], step: 0 };
}

/** Whether one prior probability, which may be 0 or 1, holds for all features. */
export function sharesPrior(/** @type {Payload} */ payload) {
  return typeof payload.prior.probability === "number";
}

/** Stored prior log-odds; infinite ones cannot be written in JSON and follow from the probability. */
function storedLogOdds(/** @type {Payload["prior"]} */ prior) {
  return typeof prior.log_odds === "number" ? prior.log_odds : logit(prior.probability);
}

/** Log-odds of a probability, by the stored pair where it is the stored prior, so that ties stay ties. */
export function logOddsOf(/** @type {Evidence} */ evidence, probability) {
  return probability === evidence.priorProbability ? evidence.priorLogOdds : logit(probability);
}

/** What another prior ratio adds to every log Bayes factor. */
export function ratioPart(/** @type {Evidence} */ evidence, /** @type {State} */ state) {
  const ratio = evidence.ratio;
  if (!ratio || state.ratio === null || state.ratio === ratio.value) {
    return 0;
  }
  return ratio.power * Math.log(state.ratio / ratio.value);
}

/** Live log-odds minus stored log-odds: one number for all features. */
function shiftOf(/** @type {Evidence} */ evidence, /** @type {State} */ state) {
  const part = ratioPart(evidence, state);
  if (evidence.priors) {
    return Math.log(state.odds_factor) + part;
  }
  const live = logOddsOf(evidence, state.prior);
  return live === evidence.priorLogOdds ? part : live - evidence.priorLogOdds + part;
}

/** Log-odds, probabilities and their running sums under the prior of a state. */
function weigh(/** @type {Evidence} */ evidence, /** @type {State} */ state) {
  const key = priorKey(state);
  const known = evidence.slots.findIndex((slot) => slot.key === key);
  if (known === 0) {
    return evidence.slots[0];
  }
  if (known > 0) {
    evidence.slots.unshift(evidence.slots.splice(known, 1)[0]);
    return evidence.slots[0];
  }
  const old = evidence.slots.length < 2 ? null : evidence.slots.pop();
  const weights = old ? { ...old, key } : emptyWeights(evidence.n, key);
  fillLogOdds(evidence, state, weights.logOdds);
  weights.expectedMarkers = fillSums(weights);
  evidence.slots.unshift(weights);
  return weights;
}

/** Room for the numbers of one prior. */
function emptyWeights(n, key) {
  return {
    key,
    logOdds: new Float64Array(n),
    probability: new Float64Array(n),
    nullProbability: new Float64Array(n),
    cumulativeTrue: new Float64Array(n + 1),
    cumulativeFalse: new Float64Array(n + 1),
    expectedMarkers: 0,
  };
}

/** Prior plus log Bayes factor; rounding may not turn the order of two neighbours. */
function fillLogOdds(/** @type {Evidence} */ evidence, /** @type {State} */ state, out) {
  const { logBayesFactor, priors } = evidence;
  const part = ratioPart(evidence, state);
  const shared = priors ? Math.log(state.odds_factor) : logOddsOf(evidence, state.prior);
  let least = Infinity;
  for (let i = 0; i < out.length; i += 1) {
    const prior = priors ? priors[i] + shared : shared;
    const value = prior + (logBayesFactor[i] + part);
    least = value < least ? value : least;
    out[i] = least;
  }
}

/** Probabilities of the log-odds, both ways, and their running sums; returns the expected markers. */
function fillSums(/** @type {Weights} */ weights) {
  const { logOdds, probability, nullProbability, cumulativeTrue, cumulativeFalse } = weights;
  let markers = 0;
  let others = 0;
  for (let i = 0; i < logOdds.length; i += 1) {
    const x = logOdds[i];
    const small = Math.exp(-Math.abs(x));
    const minor = small / (1 + small);
    const major = 1 / (1 + small);
    probability[i] = x >= 0 ? major : minor;
    nullProbability[i] = x >= 0 ? minor : major;
    markers += probability[i];
    others += nullProbability[i];
    cumulativeTrue[i + 1] = markers;
    cumulativeFalse[i + 1] = others;
  }
  return markers;
}

/** The list of a state and its expected errors; the same object as before if nothing of it has changed. */
export function solve(/** @type {Evidence} */ evidence, /** @type {State} */ state) {
  const weights = weigh(evidence, state);
  const key = keyOf(state);
  const last = evidence.lastSolution;
  if (last && last.key === key && last.cumulativeFalse === weights.cumulativeFalse) {
    return last;
  }
  const ofTheRun = evidence.ofTheRun?.key === key ? evidence.ofTheRun : null;
  const { size, cut, tiedOut, limit = 0, claim } = ofTheRun ?? listOf(evidence, weights, state);
  const found = estimateOf(evidence, state, { size, cut, limit });
  const estimate = found && { ...found, ...claim };
  evidence.lastSolution = {
    key,
    size,
    cut,
    threshold: expit(cut),
    expectedTrue: weights.cumulativeTrue[size],
    expectedFalse: weights.cumulativeFalse[size],
    expectedMissed: sumFrom(weights.probability, size),
    expectedMarkers: weights.expectedMarkers,
    falseDiscoveryRate: size ? weights.cumulativeFalse[size] / size : 0,
    tiedOut,
    estimate,
    underNull: state.prior === 1 ? null : expectedUnderNull(evidence.underNull, cut, shiftOf(evidence, state)),
    words: ruleWords(state, evidence.n),
    cumulativeFalse: weights.cumulativeFalse,
    cumulativeTrue: weights.cumulativeTrue,
  };
  return evidence.lastSolution;
}

/** Length of the list, its cut on the log-odds, and the features left out although they lie at the cut. */
function listOf(/** @type {Evidence} */ evidence, /** @type {Weights} */ weights, /** @type {State} */ state) {
  const { logOdds, cumulativeFalse } = weights;
  const n = logOdds.length;
  if (state.rule === "mnc" || state.rule === "mr") {
    const cut = logOddsOf(evidence, state.rule === "mnc" ? 0.5 : state.threshold);
    const size = firstWhere(n, (i) => !(logOdds[i] > cut));
    const after = Number.isFinite(cut) ? firstWhere(n, (i) => logOdds[i] < cut) : size;
    return { size, cut, tiedOut: after - size, limit: 0, claim: null };
  }
  const { shuffled } = evidence;
  const nullShare = shuffled ? nullShareOf(evidence, state) : 1;
  let size = 0;
  let limit = 0; // of false positives, at which a list ends
  if (state.rule === "cmnc") {
    size = Math.min(state.n_selected, n);
  } else if (state.rule === "np") {
    const most = mostFalse(state.expected_false_positives);
    const expected = shuffled ? expectedDownTo(shuffled, nullShare) : cumulativeFalse;
    size = firstWhere(n, (i) => !(expected[i + 1] <= most));
    limit = state.expected_false_positives;
  } else if (state.rule === "fdr") {
    size = longestShare(shuffled ? expectedByRate(shuffled, nullShare) : cumulativeFalse, state.proportion);
    limit = state.proportion * size;
  } else if (shuffled) {
    size = longestShare(boundDownTo(shuffled, nullShare, state.confidence), state.proportion);
  } else {
    size = longestSurePrefix(weights, state.proportion, state.confidence);
  }
  const cut = size ? logOdds[size - 1] : Infinity;
  const after = size ? firstWhere(n, (i) => logOdds[i] < cut) : size;
  return { size, cut, tiedOut: after - size, limit, claim: null };
}

/** A bound on a number of errors, with room for rounding. */
function mostFalse(allowed) {
  return allowed + (allowed ? ROUNDING * Math.max(1, allowed) : 0);
}

/** Longest beginning with an expected share of false discoveries in bounds, though shorter ones may break it. */
function longestShare(cumulativeFalse, proportion) {
  for (let k = cumulativeFalse.length - 1; k > 0; k -= 1) {
    if (cumulativeFalse[k] <= proportion * k * (1 + ROUNDING) + TINY) {
      return k;
    }
  }
  return 0;
}

/** Sum of an array from a place on. */
function sumFrom(values, start) {
  let total = 0;
  for (let i = start; i < values.length; i += 1) {
    total += values[i];
  }
  return total;
}

/** False positives expected under the global null, from the table of the payload; null if it is not known. */
function expectedUnderNull(/** @type {NullTable | null} */ table, cut, shift) {
  if (!table) {
    return null;
  }
  if (cut === Infinity || !Number.isFinite(shift)) {
    return 0; // certain non-markers pass no cut
  }
  const x = cut - shift;
  const { cut: cuts, logExpected } = table;
  const last = cuts.length - 1;
  if (x <= cuts[0]) {
    return Math.exp(logExpected[0]);
  }
  if (x > cuts[last]) {
    return 0;
  }
  const i = firstWhere(last, (k) => cuts[k] >= x) - 1;
  const share = (x - cuts[i]) / (cuts[i + 1] - cuts[i]);
  if (share === 1 || logExpected[i + 1] === -Infinity) {
    return Math.exp(logExpected[i + 1]);
  }
  return Math.exp(logExpected[i] + share * (logExpected[i + 1] - logExpected[i]));
}

/** The rule in words, as Python says it. */
function ruleWords(/** @type {State} */ state, n) {
  const share = formatGeneral(state.proportion);
  const words = {
    mnc: "probability over 0.5",
    mr: `probability over ${formatGeneral(state.threshold)}`,
    cmnc: `the ${Math.min(state.n_selected, n)} most probable`,
    np: `at most ${formatGeneral(state.expected_false_positives)} false positives expected`,
    fdr: `expected false-discovery rate at most ${share}`,
    fdp: `false-discovery proportion at most ${share} with probability ${formatGeneral(state.confidence)}`,
  };
  return words[state.rule];
}

/** The threshold of minimal risk when a false positive costs so many times a missed marker. */
export function thresholdOfCost(cost) {
  return cost === Infinity ? 1 : cost / (cost + 1);
}

/** How many times a missed marker a false positive costs under a threshold. */
export function costOfThreshold(threshold) {
  return threshold / (1 - threshold);
}
