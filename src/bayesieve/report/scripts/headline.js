// @ts-check
// The results of the present choice: cards, the sentence, the commands.

import { cliCommand, pythonCommand } from "./commands.js";
import { allOf, byId } from "./elements.js";
import {
  ABSENT, expit, formatUnderNull, formatChance, formatCount, formatExpected, formatNumber, formatProbability, shorten, shownName,
} from "./numbers.js";

/** @import { Context, Payload, Solution, View } from "./types.js" */

/** Make the results; update(view) fills all but the distribution, updateDistribution(view) the numbers that need it. */
export function createHeadline(/** @type {Context} */ context) {
  const places = {};
  for (const element of allOf("[data-result]")) {
    places[String(element.dataset.result)] = element;
  }
  for (const element of allOf('[data-fill="n_features"]')) {
    element.textContent = formatCount(context.payload.n_features);
  }
  connectCopying();
  const speak = createSpeaker(context);
  return {
    update: (view) => updateResults(context, places, view),
    updateDistribution: (view) => {
      updateDistributionResults(places, view);
      const sentence = verdictOf(context, view);
      byId("verdict").textContent = sentence;
      speak(sentence, view.previous !== null);
    },
    wait: () => waiting(context).forEach((name) => places[name].classList.add("waiting")),
  };
}

/** Numbers that take the distribution of the model. */
function waiting(/** @type {Context} */ { payload }) {
  return payload.shuffled ? [] : ["interval_low", "interval_high", "hit_rate"];
}

/** The number of false positives of a list: from shuffled labels if there are any, else from the model. */
function falsePositivesOf(/** @type {View} */ { solution, distribution }) {
  if (solution.estimate) {
    return solution.estimate;
  }
  const { low, high } = distribution();
  return { expected: solution.expectedFalse, low, high, step: 0 };
}

/** A number of false positives; one below what the shuffles can tell is said to be less than that. */
export function formatFalse(/** @type {{ expected: number, step: number }} */ { expected, step }, less = "<") {
  if (step && expected >= Math.max(0.01, step / 2)) return formatNumber(Number(expected.toPrecision(2))); // all digits that shuffles have
  return step && expected < step / 2 ? `${less}${formatNumber(Math.max(0.01, Number(step.toPrecision(2))), 2)}` : formatExpected(expected);
}

/** How labels were shuffled, in words. */
export function shufflesOf(/** @type {Payload} */ { shuffled }) {
  const among = { samples: "", batches: " within batches", pairs: " within pairs", residuals: " given the covariates", subjects: " within subjects" };
  return shuffled ? `${formatCount(shuffled.n)} shuffles of the labels${among[shuffled.scheme] ?? ""}` : "";
}

/** Fill the numbers that come from shuffled labels, and say what the count test belongs to. */
function updateShuffled(/** @type {Context} */ context, places, /** @type {Solution} */ solution) {
  const { estimate, size } = solution;
  if (!estimate) {
    return;
  }
  showResult(places, "interval_low", estimate.low, formatCount(Math.round(estimate.low)));
  showResult(places, "interval_high", estimate.high, formatCount(Math.round(estimate.high)));
  showResult(places, "hit_rate", estimate.hitRate, size ? formatChance(estimate.hitRate) : ABSENT);
  showResult(places, "n_as_long", estimate.asLong, size ? formatCount(estimate.asLong) : ABSENT);
  const judged = context.store.isStored();
  byId("judgement").textContent = judged
    ? (context.payload.list?.judgement ?? []).join(" ")
    : "The count test belongs to the list of the run, not to this one.";
}

/** Say under the card what the global null is for this model and prior. */
function explainUnderNull(/** @type {Payload} */ payload, /** @type {Solution} */ { underNull }) {
  const note = document.getElementById("null-note");
  if (!note) {
    return;
  }
  if (!payload.calibrated) {
    note.textContent = "not known: these log-odds are the least over several looks";
  } else if (!payload.under_null) {
    note.textContent = "not known for this result; see Method";
  } else {
    const simulated = payload.under_null.resolution ? ", by simulation" : "";
    note.textContent = underNull === null
      ? "none: every feature is taken for a marker"
      : `no feature differs${payload.family ? `, ${payload.family} values` : ""}${simulated}`;
  }
}

/** Put a number into its place: told for people, in full in data-value. */
function showResult(places, name, value, text) {
  const element = places[name];
  if (!element) {
    return; // of the other source of these numbers
  }
  element.dataset.value = value === null || value === undefined ? "" : String(value);
  element.classList.remove("waiting");
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** A share as a percentage. */
function formatShare(share) {
  return `${formatNumber(100 * share, 2)}%`;
}

/** Fill the numbers that follow from the list alone. */
function updateResults(/** @type {Context} */ context, places, /** @type {View} */ view) {
  const { solution } = view;
  showResult(places, "n_selected", solution.size, formatCount(solution.size));
  showResult(places, "cut", solution.cut, formatNumber(solution.cut));
  const { estimate, size } = solution;
  const expectedTrue = estimate ? Math.max(0, size - estimate.expected) : solution.expectedTrue;
  const expectedFalse = estimate ? estimate.expected : solution.expectedFalse;
  const rate = estimate && size ? estimate.expected / size : solution.falseDiscoveryRate;
  showResult(places, "expected_true", expectedTrue, formatExpected(expectedTrue));
  showResult(places, "expected_markers", solution.expectedMarkers, formatExpected(solution.expectedMarkers));
  showResult(places, "expected_false", expectedFalse, formatFalse({ expected: expectedFalse, step: estimate?.step ?? 0 }));
  showResult(places, "false_discovery_rate", rate, formatShare(rate));
  showResult(places, "under_null", solution.underNull, formatUnderNull(solution.underNull, context.payload));
  showResult(places, "model_false", solution.expectedFalse, formatExpected(solution.expectedFalse));
  updateShuffled(context, places, solution);
  explainUnderNull(context.payload, solution);
  showResult(places, "expected_missed", solution.expectedMissed, formatExpected(solution.expectedMissed));
  const differs = !context.store.isStored();
  byId("differs").hidden = !differs;
  byId("verdict-live").hidden = !differs;
  byId("verdict-report").hidden = differs;
  for (const note of allOf("[data-moved]")) {
    note.hidden = !differs;
  }
  byId("command-cli").textContent = cliCommand(context.payload, view.state);
  byId("command-python").textContent = pythonCommand(context.payload, view.state);
}

/** Fill the numbers that need the distribution of the number of false positives. */
function updateDistributionResults(places, /** @type {View} */ view) {
  if (view.solution.estimate) {
    return;
  }
  const { low, high, hitRate } = view.distribution();
  showResult(places, "interval_low", low, formatCount(low));
  showResult(places, "interval_high", high, formatCount(high));
  byId("hit-rate-note").hidden = !((view.solution.underNull ?? 0) > high + 0.5);
  showResult(places, "hit_rate", hitRate, view.solution.size ? formatChance(hitRate) : ABSENT);
}

/** The result in one or two sentences. */
function verdictOf(/** @type {Context} */ context, /** @type {View} */ view) {
  const { solution } = view;
  const n = formatCount(context.payload.n_features);
  if (!solution.size) {
    const odds = view.logOdds[0];
    return `No feature is listed (${solution.words}${priorWordsOf(view)}). The most probable, ${shorten(shownName(context.details.names[0]), 40)}, has `
      + `probability ${formatProbability(expit(odds), odds)} (log-odds ${formatNumber(odds)}).`;
  }
  const found = falsePositivesOf(view);
  const [low, high] = [found.low, found.high].map((end) => formatCount(Math.round(end)));
  const source = solution.estimate ? `, from ${shufflesOf(context.payload)}` : "";
  const doubt = (solution.underNull ?? 0) > found.high + 0.5 ? " That is more than the model expects to be false: trust this number." : "";
  const number = formatUnderNull(solution.underNull, context.payload, "fewer than ");
  const atNull = solution.underNull === null ? "" : ` Under the global null: ${number}.${doubt}`;
  const tied = solution.tiedOut ? ` ${formatCount(solution.tiedOut)} more lie exactly at the cut and are left out.` : "";
  return `${formatCount(solution.size)} of ${n} features ${solution.size === 1 ? "is" : "are"} listed (${solution.words}${priorWordsOf(view)}). False positives expected among them: `
    + `${formatFalse(found, "fewer than ")}, 90% interval ${low} to ${high}${source}.${atNull}${tied}`;
}

/** The prior, where it is another than that of the report. */
function priorWordsOf(/** @type {View} */ { state, stored }) {
  const told = [];
  if (state.prior !== stored.prior) told.push(`prior probability ${formatNumber(state.prior ?? NaN, 4)}`);
  if (state.odds_factor !== stored.odds_factor) told.push(`prior odds times ${formatNumber(state.odds_factor, 4)}`);
  if (state.ratio !== stored.ratio) told.push(`prior ratio ${formatNumber(state.ratio ?? NaN, 4)}`);
  return told.map((each) => `; ${each}`).join("");
}

/** Tell readers who listen of the new result, once things have come to rest. */
function createSpeaker(/** @type {Context} */ context) {
  let timer = null;
  return (sentence, wanted) => {
    clearTimeout(timer);
    if (wanted) {
      timer = setTimeout(() => context.announce(sentence), 700);
    }
  };
}

/** Buttons that copy a command; where the clipboard is closed, the text is selected instead. */
function connectCopying() {
  const message = byId("copy-message");
  for (const button of allOf("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = byId(String(button.dataset.copy));
      const said = button.textContent;
      try {
        await navigator.clipboard.writeText(source.textContent);
        message.textContent = "Copied to the clipboard.";
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = said; }, 1500);
      } catch {
        window.getSelection()?.selectAllChildren(source);
        message.textContent = "The text is selected: copy it with Ctrl+C or Cmd+C.";
      }
      setTimeout(() => { message.textContent = ""; }, 5000);
    });
  }
}
