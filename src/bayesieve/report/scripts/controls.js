// @ts-check
// The controls: rule, its numbers, prior probability and prior ratio, each as a number and a slider.

import { allOf, byId, oncePerFrame } from "./elements.js";
import { expit, formatCount, formatNumber, formatSigned, logit } from "./numbers.js";
import { costOfThreshold, thresholdOfCost } from "./rules.js";

/** @import { Context, Dial, Payload, State, View } from "./types.js" */

const SLIDER_STEPS = 240;
const RULE_MEANINGS = {
  mnc: "Lists every feature that is more likely a marker than not: the greatest expected number of correct calls.",
  mr: "Lists every feature whose probability is over a threshold, which follows from what the two errors cost.",
  cmnc: "Lists this many of the most probable features.",
  np: "Takes the longest list whose expected number of false positives stays within the bound.",
  fdr: "Takes the longest list whose expected share of false positives stays within the bound.",
  fdp: "Takes the longest list whose share of false positives stays within the bound with this probability, "
    + "if features are independent.",
};

/** A number to so many significant digits. */
function roundTo(x, digits) {
  return Number(x.toPrecision(digits));
}

/** A slider on which equal steps multiply by the same factor. */
function logSlider(low, high, whole = false) {
  const [a, b] = [Math.log(low), Math.log(high)];
  return {
    place: (value) => (SLIDER_STEPS * (Math.log(Math.max(value, low)) - a)) / (b - a || 1),
    value: (place) => {
      const value = Math.exp(a + ((b - a) * place) / SLIDER_STEPS);
      return whole ? Math.round(value) : Math.min(high, Math.max(low, roundTo(value, 2)));
    },
  };
}

/** A slider of probabilities with equal steps in log-odds; rounded so that values near 1 keep their distance from it. */
function logitSlider(low, high) {
  const [a, b] = [logit(low), logit(high)];
  return {
    place: (value) => (SLIDER_STEPS * (logit(Math.min(high, Math.max(low, value))) - a)) / (b - a),
    value: (place) => {
      const p = expit(a + ((b - a) * place) / SLIDER_STEPS);
      return p <= 0.5 ? roundTo(p, 2) : roundTo(1 - roundTo(1 - p, 2), 8);
    },
  };
}

/** The dials: which number of the state each one moves, and how. */
function dialsOf(/** @type {Payload} */ payload, /** @type {State} */ stored) {
  const n = payload.n_features;
  const ratio = stored.ratio || 1;
  const certain = stored.prior === 0 || stored.prior === 1;
  const cost = (written) => (written >= 0 ? thresholdOfCost(written) : NaN);
  return /** @type {Dial[]} */ ([
    { id: "control-threshold", key: "threshold", slider: logitSlider(0.01, 0.9999) },
    { id: "control-cost", key: "threshold", shown: costOfThreshold, taken: cost },
    { id: "control-n", key: "n_selected", slider: logSlider(1, Math.max(2, n), true) },
    { id: "control-np", key: "expected_false_positives", slider: logSlider(0.01, Math.max(1, Math.min(n, 1000))) },
    { id: "control-proportion", key: "proportion", slider: logSlider(0.001, 0.5) },
    { id: "control-confidence", key: "confidence", slider: logitSlider(0.5, 0.9999) },
    { id: "control-prior", key: "prior", slider: logSlider(1e-5, 0.5), help: (x) => priorWords(x, n, certain) },
    { id: "control-odds", key: "odds_factor", slider: logSlider(0.001, 1000), help: oddsWords },
    { id: "control-ratio", key: "ratio", slider: logSlider(ratio / 1000, ratio * 1000), help: (x) => ratioWords(payload, x) },
  ]);
}

/** What a prior probability means. */
function priorWords(prior, n, certain) {
  if (certain) {
    return "With a prior probability of 0 or 1 the data do not rank the features, so it cannot be moved here.";
  }
  return `About ${formatNumber(prior * n, 3)} of ${formatCount(n)} features believed to be markers before looking.`;
}

/** Mark on the slider of the prior what the data suggest, and offer to take it. */
function showSuggestion(/** @type {Context} */ { payload, store, announce }, /** @type {Dial[]} */ dials, take) {
  const share = payload.estimated_share;
  const dial = dials.find((each) => each.key === "prior");
  const bounds = store.bounds.prior;
  if (share === null || !dial || !dial.range || !bounds) {
    return;
  }
  const line = byId("prior-suggested");
  const button = /** @type {HTMLButtonElement} */ (byId("control-suggested"));
  const some = share > 0;
  byId("prior-words").textContent = some
    ? `The data suggest that ${formatNumber(100 * share, 2)}% are (marked).`
    : "The share of markers among all cannot be told from none.";
  line.hidden = false;
  button.hidden = !some;
  if (some) {
    const mark = document.createElement("option");
    mark.value = String(Math.round(dial.slider.place(share)));
    byId("prior-marks").append(mark);
    dial.range.setAttribute("list", "prior-marks");
    button.addEventListener("click", () => {
      take({ prior: roundTo(share, 2) }, button);
      announce(`The prior probability is ${roundTo(share, 2)}, as the data suggest.`);
    });
  }
}

/** What a factor of the prior odds means. */
function oddsWords(factor) {
  if (factor === 1) {
    return "Every feature has a prior of its own; 1 leaves them as they are.";
  }
  return `Every feature’s own prior odds times ${formatNumber(factor)}.`;
}

/** What a prior ratio means. */
function ratioWords(/** @type {Payload} */ payload, ratio) {
  if (!payload.ratio) {
    return "";
  }
  const added = payload.ratio.power * Math.log(ratio / payload.ratio.value);
  const moved = ratio === payload.ratio.value
    ? "The data cannot tell it."
    : `Adds ${formatSigned(added)} to every log-odds of the report.`;
  return `How heavily the improper prior weighs a difference against none: a choice. ${moved}`;
}

/** Make the controls; update(view) puts the state into them. */
export function createControls(/** @type {Context} */ context) {
  const { store, payload } = context;
  const waiting = {};
  const moving = new Set(); // fields and sliders whose own change is on its way
  const flush = oncePerFrame(() => {
    const patch = { ...waiting };
    Object.keys(waiting).forEach((key) => delete waiting[key]);
    store.set(patch);
    moving.clear();
  });
  const take = (patch, input) => { Object.assign(waiting, patch); moving.add(input); flush(); };
  const dials = dialsOf(payload, store.stored);
  dials.forEach((dial) => connectDial(dial, context, take));
  showSuggestion(context, dials, take);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("control-rule").addEventListener("change", (event) => {
    const radio = /** @type {HTMLInputElement} */ (event.target);
    take({ rule: radio.value }, radio);
  });
  for (const button of allOf("[data-reset]")) {
    button.addEventListener("click", () => {
      store.reset();
      context.announce("The list is that of the report again.");
      if (!button.offsetParent) byId(button.dataset.reset || "decide").focus({ preventScroll: true }); // it has gone
    });
  }
  byId("prior-shared").hidden = store.stored.prior === null;
  byId("prior-own").hidden = store.stored.prior !== null;
  byId("ratio-movable").hidden = store.stored.ratio === null;
  const fixed = byId("ratio-fixed");
  fixed.textContent = payload.ratio ? "" : payload.ratio_reason || "This model has no prior ratio.";
  fixed.hidden = Boolean(payload.ratio);
  return { update: (view) => updateControls(dials, view, moving) };
}

/** Let a dial answer to its number and its slider. */
function connectDial(/** @type {Dial} */ dial, /** @type {Context} */ { store, announce }, take) {
  const number = /** @type {HTMLInputElement} */ (byId(dial.id));
  const slider = /** @type {HTMLInputElement | null} */ (document.getElementById(`${dial.id}-slider`));
  const limits = byId(`${dial.id}-bounds`);
  Object.assign(dial, { number, range: slider, helpText: document.getElementById(`${dial.id}-help`) });
  const bounds = store.bounds[dial.key];
  limits.textContent = bounds ? boundsWords(dial, bounds) : "";
  const judge = (fits) => {
    if (!fits && limits.hidden) {
      announce(limits.textContent);
    }
    limits.hidden = fits;
    number.setAttribute("aria-invalid", String(!fits));
  };
  for (const input of [number, slider]) {
    if (input) {
      input.disabled = !bounds;
    }
  }
  number.addEventListener("input", () => {
    const written = number.value.trim() === "" ? NaN : Number(number.value);
    const value = dial.taken ? dial.taken(written) : written;
    const fits = bounds !== undefined && value >= bounds[0] && value <= bounds[1];
    judge(fits);
    if (fits) {
      take({ [dial.key]: value }, number);
    }
  });
  const rest = () => {
    judge(true);
    setTimeout(() => showNumber(dial, store.get()), 50); // when what was written has been taken
  };
  number.addEventListener("change", rest);
  number.addEventListener("blur", rest);
  if (slider) {
    slider.addEventListener("input", () => take({ [dial.key]: dial.slider.value(Number(slider.value)) }, slider));
  }
}

/** What may be written into the field of a dial. */
function boundsWords(/** @type {Dial} */ dial, /** @type {number[]} */ [low, high]) {
  if (dial.taken || high > 1e299) {
    return dial.taken || low === 0 ? "Write a number of 0 or more." : "Write a number over 0.";
  }
  return `Write a ${dial.key === "n_selected" ? "whole " : ""}number from ${formatCount(low)} to ${formatCount(high)}.`;
}

/** Put the number of the state into the field of a dial. */
function showNumber(/** @type {Dial} */ dial, /** @type {State} */ state) {
  const value = Number(state[dial.key]);
  const shown = dial.shown ? dial.shown(value) : value;
  const text = Number.isFinite(shown) ? String(dial.shown ? roundTo(shown, 6) : shown) : "";
  if (dial.number.value !== text) {
    dial.number.value = text;
  }
}

/** Show the rule of the state, its inputs only, and all numbers. */
function updateControls(/** @type {Dial[]} */ dials, /** @type {View} */ view, moving) {
  const { state, previous } = view;
  if (!previous || previous.rule !== state.rule) {
    for (const radio of byId("control-rule").querySelectorAll("input")) {
      radio.checked = radio.value === state.rule;
    }
    for (const block of allOf("[data-rules]")) {
      block.hidden = !block.dataset.rules?.split(" ").includes(state.rule);
    }
    byId("rule-meaning").textContent = RULE_MEANINGS[state.rule];
  }
  for (const dial of dials) {
    if (state[dial.key] !== null && (!previous || previous[dial.key] !== state[dial.key])) {
      updateDial(dial, state, moving);
    }
  }
}

/** Show one number; a field or a slider that has just been moved to it is left alone. */
function updateDial(/** @type {Dial} */ dial, /** @type {State} */ state, moving) {
  const value = Number(state[dial.key]);
  if (!moving.has(dial.number)) {
    showNumber(dial, state);
  }
  if (dial.range) {
    if (!moving.has(dial.range)) {
      dial.range.value = String(Math.round(dial.slider.place(value)));
    }
    dial.range.setAttribute("aria-valuetext", formatNumber(value, 6));
  }
  if (dial.help && dial.helpText) {
    dial.helpText.textContent = dial.help(value);
  }
}
