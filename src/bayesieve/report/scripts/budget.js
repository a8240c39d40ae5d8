// @ts-check
// "I can follow up 50 features": the list cut at a number, and the false ones to expect in it.

import { byId } from "./elements.js";
import { formatFalse, shufflesOf } from "./headline.js";
import { decodedOnce, expit, formatCount, formatNumber, formatProbability } from "./numbers.js";
import { falseAmong } from "./rules.js";

/** @import { Context, View } from "./types.js" */

const USUAL_BUDGET = 50;

/** Make the control; update(view) shows the number and what is to be expected. */
export function createBudget(/** @type {Context} */ { payload, store, announce }) {
  const field = /** @type {HTMLInputElement} */ (byId("budget-n"));
  const [button, back, words, limits] = ["budget-take", "budget-back", "budget-words", "budget-bounds"].map(byId);
  const most = payload.n_features;
  let wanted = Math.min(USUAL_BUDGET, most);
  field.max = String(most);
  limits.textContent = `A whole number from 0 to ${formatCount(most)}.`;

  /** Take what is written, if it is a number of features. */
  const take = () => {
    const written = field.value.trim() === "" ? NaN : Number(field.value);
    const fits = Number.isInteger(written) && written >= 0 && written <= most;
    if (!fits && limits.hidden) announce(limits.textContent);
    limits.hidden = fits;
    field.setAttribute("aria-invalid", String(!fits));
    if (fits) store.set({ rule: "cmnc", n_selected: written });
  };
  field.addEventListener("input", take);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") take(); });
  button.addEventListener("click", take);

  return {
    update: (/** @type {View} */ view) => {
      const cut = view.state.rule === "cmnc";
      if (cut) wanted = view.state.n_selected;
      if (document.activeElement !== field || Number(field.value) !== wanted) {
        field.value = String(wanted);
        field.setAttribute("aria-invalid", "false");
        limits.hidden = true;
      }
      button.hidden = cut;
      back.hidden = store.isStored();
      words.textContent = budgetWords(payload, view, wanted);
    },
  };
}

/** What to expect of the strongest n features. */
function budgetWords(/** @type {Context["payload"]} */ payload, /** @type {View} */ view, n) {
  if (!n) return "No feature, no false positive.";
  const cut = view.state.rule === "cmnc";
  const found = cut && view.solution.estimate ? view.solution.estimate : falseAmong(view.evidence, view.state, n);
  const source = found.step ? ` (from ${shufflesOf(payload)})` : " (under the model)";
  const last = view.logOdds[n - 1];
  const expected = Math.min(n, found.expected);
  const share = n > 1 && expected >= 0.01 ? `, ${formatNumber((100 * expected) / n, 2)}%` : "";
  return `${cut ? "False positives expected among them" : `False positives expected among the ${formatCount(n)} strongest`}: `
    + `${formatFalse({ expected, step: found.step }, "fewer than ")}${share}${source}. The weakest has probability ${formatProbability(expit(last), last)}.`
    + hangingWords(payload, n);
}

/** How many of the strongest n fall below the cut of the report without one sample, where that was looked at. */
function hangingWords(/** @type {Context["payload"]} */ { hanging }, n) {
  const [culprits, flags] = hanging ? [decodedOnce(hanging.culprit), decodedOnce(hanging.fragile)] : [[], []];
  const m = Math.min(n, culprits.length);
  if (!m || culprits.subarray(0, m).some((culprit) => culprit < 0)) return "";
  const fallen = flags.subarray(0, m).reduce((sum, flag) => sum + flag, 0);
  const whom = m < n ? `the ${formatCount(m)} that the report lists` : "them";
  return fallen ? ` ${formatCount(fallen)} of ${whom} would leave the report’s list without one sample.` : "";
}
