// @ts-check

import { expit, logit } from "./numbers.js";

/** @import { View } from "./types.js" */

/**
 * Least prior probability at which the probability of a feature passes that of the rule (one half for rules that
 * have none); null where every feature has a prior of its own. From its Bayes factor alone, in closed form.
 */
export function leastPrior(/** @type {View} */ { evidence, state, ratioPart }, position) {
  if (evidence.priors) return null;
  const cut = state.rule === "mr" ? logit(state.threshold) : 0;
  return expit(cut - evidence.logBayesFactor[position] - ratioPart);
}
