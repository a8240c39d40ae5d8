// @ts-check
// State: what the reader has chosen, kept in the fragment of the address.

import { RULE_NUMBERS, sharesPrior } from "./rules.js";

/** @import { Payload, RuleName, State, Store, View } from "./types.js" */

const RULE_NAMES = /** @type {RuleName[]} */ (Object.keys(RULE_NUMBERS));
const FILTERS = ["all", "selected", "degenerate", "fragile", "picked"];
const HEATMAPS = ["20", "50", "100", "list"];
const PICKED_FORM = /^(\d+(,\d+)*)?$/;
const LONGEST_SEARCH = 20000; // a pasted list of names
const LONGEST_PICKED = 2000; // in the address
const NUMBER_FORM = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const LONGEST_TEXT = 200;
const FRAGMENT_PAUSE = 200; // milliseconds between changes of the address: browsers refuse more

/**
 * The settings that the report was made with.
 * @returns {Readonly<State>}
 */
function storedState(/** @type {Payload} */ payload) {
  const rule = payload.rule || {};
  const n = payload.n_features;
  const number = (value, otherwise) => (Number.isFinite(value) ? value : otherwise);
  return Object.freeze({
    rule: RULE_NAMES.find((name) => name === rule.name) ?? "mnc",
    threshold: number(rule.threshold, 0.5),
    n_selected: Math.min(number(rule.n_selected, 50), n),
    expected_false_positives: number(rule.expected_false_positives, 5),
    proportion: number(rule.proportion, 0.1),
    confidence: number(rule.confidence, 0.9),
    prior: sharesPrior(payload) ? payload.prior.probability : null,
    odds_factor: 1,
    ratio: payload.ratio ? payload.ratio.value : null,
    feature: null,
    search: "",
    sort_key: "rank",
    sort_descending: false,
    filter: "all",
    axes: "effect",
    picked: "",
    heatmap: "50",
    pinned: null,
  });
}

/** Least and greatest values of the settings that are numbers; absent where one cannot be moved. */
function numberBounds(/** @type {Payload} */ payload, /** @type {State} */ stored) {
  /** @type {Store["bounds"]} */
  const bounds = {
    threshold: [0, 1],
    n_selected: [0, payload.n_features],
    expected_false_positives: [0, Number.MAX_VALUE],
    proportion: [0, 1],
    confidence: [0, 1],
  };
  if (stored.prior === null) {
    bounds.odds_factor = [1e-300, 1e300];
  } else if (stored.prior > 0 && stored.prior < 1) {
    bounds.prior = [0, 1]; // under a stored prior of 0 or 1 features are not ranked by the data
  }
  if (stored.ratio !== null) {
    bounds.ratio = [1e-300, 1e300];
  }
  return bounds;
}

/** A setting in its legal form; undefined if there is none. */
function cleanSetting(key, value, bounds, nDetailed) {
  if (Array.isArray(bounds[key])) {
    if (typeof value !== "number" || Number.isNaN(value)) {
      return undefined;
    }
    const [low, high] = bounds[key];
    const within = Math.min(Math.max(value, low), high);
    return key === "n_selected" ? Math.round(within) : within;
  }
  const isText = typeof value === "string";
  const kinds = {
    rule: () => RULE_NAMES.includes(value),
    heatmap: () => HEATMAPS.includes(value),
    filter: () => FILTERS.includes(value),
    search: () => isText,
    sort_key: () => isText && value.length > 0 && value.length <= LONGEST_TEXT,
    sort_descending: () => typeof value === "boolean",
    feature: () => isPosition(value, nDetailed),
    pinned: () => isPosition(value, nDetailed),
    axes: () => isText && value.length > 0 && value.length <= LONGEST_TEXT,
    picked: () => isText && PICKED_FORM.test(value) && value.split(",").every((each) => Number(each) < nDetailed),
  };
  if (!Object.keys(kinds).includes(key) || !kinds[key]()) {
    return undefined;
  }
  return key === "search" ? value.slice(0, LONGEST_SEARCH) : value;
}

/** Whether a value says which feature is meant, or that none is. */
function isPosition(value, nDetailed) {
  return value === null || (Number.isInteger(value) && value >= 0 && value < nDetailed);
}

/** Settings that decide the list: the rule with its own numbers, and the prior. */
function decidingKeys(/** @type {State} */ state) {
  return ["rule", ...RULE_NUMBERS[state.rule], "prior", "odds_factor", "ratio"];
}

/** Whether the prior of a view is another than that of the report. */
export function priorMoved(/** @type {View} */ { state, stored }) {
  return ["prior", "odds_factor", "ratio"].some((key) => state[key] !== stored[key]);
}

/** The fragment that leads back to a state: what differs from the stored one; empty if nothing does. */
function fragmentOf(/** @type {Payload} */ payload, /** @type {State} */ stored, /** @type {State} */ state) {
  const pairs = [];
  const keys = [...decidingKeys(state), "feature", "pinned", "search", "sort_key", "sort_descending", "filter", "axes", "picked", "heatmap"];
  for (const key of keys.filter((each) => each !== "picked" || state.picked.length <= LONGEST_PICKED)) {
    if (state[key] !== stored[key]) {
      const named = key === "feature" || key === "pinned";
      pairs.push([key, named ? payload.names[Number(state[key])] : String(state[key])]);
    }
  }
  return pairs.length ? `#${new URLSearchParams(pairs)}` : "";
}

/** What a fragment asks for; whatever is not understood, or out of bounds, is ignored. */
function readFragment(hash, /** @type {Payload} */ payload, bounds) {
  const patch = /** @type {Partial<State>} */ ({});
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  for (const key of Object.keys(storedState(payload)).filter((each) => given.has(each))) {
    const text = given.get(key) ?? "";
    /** @type {any} */
    let value = text;
    if (bounds[key]) {
      const [low, high] = bounds[key];
      value = text.length <= 40 && NUMBER_FORM.test(text) ? Number(text) : NaN;
      const over = value > high && key !== "n_selected"; // a shorter table: all of it
      value = value < low || over ? NaN : value;
    } else if (key === "feature" || key === "pinned") {
      value = payload.names.indexOf(text);
    } else if (key === "sort_descending") {
      value = text === "true" ? true : text === "false" ? false : undefined;
    }
    const clean = cleanSetting(key, value, bounds, payload.names.length);
    if (clean !== undefined) {
      patch[key] = clean;
    }
  }
  return patch;
}

/**
 * The store: the state, its changes, those who follow them, and the address.
 * @returns {Store}
 */
export function createStore(/** @type {Payload} */ payload) {
  const stored = storedState(payload);
  const bounds = numberBounds(payload, stored);
  const followers = new Set();
  const read = () => readFragment(currentHash(), payload, bounds);
  /** @type {Readonly<State>} */
  let state = Object.freeze({ ...stored, ...read() });
  const writer = createFragmentWriter(() => fragmentOf(payload, stored, state));

  /** Take a new state if it differs, write it to the address and tell the followers. */
  function take(next, write) {
    if (Object.keys(stored).every((key) => next[key] === state[key])) {
      return;
    }
    const previous = state;
    state = Object.freeze(next);
    if (write) {
      writer.write();
    }
    followers.forEach((follow) => follow(state, previous));
  }

  const store = {
    stored,
    bounds,
    get: () => state,
    set(patch) {
      const next = { ...state };
      for (const key of Object.keys(patch)) {
        const clean = cleanSetting(key, patch[key], bounds, payload.names.length);
        if (clean !== undefined) {
          next[key] = clean;
        }
      }
      take(next, true);
    },
    reset() {
      const { feature, search, sort_key, sort_descending, filter, axes, picked, pinned, heatmap } = state;
      take({ ...stored, feature, search, sort_key, sort_descending, filter, axes, picked, pinned, heatmap }, true);
    },
    isStored: () => decidingKeys(state).every((key) => state[key] === stored[key]),
    subscribe(follow) {
      followers.add(follow);
      return () => followers.delete(follow);
    },
    fragment: () => fragmentOf(payload, stored, state),
  };
  followFragment(writer, () => take({ ...stored, ...read() }, false));
  return store;
}

/** The fragment of the address; empty outside a browser. */
function currentHash() {
  return typeof window === "undefined" ? "" : window.location.hash;
}

/** Whether a fragment holds settings; others are links to parts of the page. */
function holdsSettings(hash) {
  return hash.includes("=");
}

/** Follow changes of the fragment by hand; a link to a part of the page leaves the settings alone. */
function followFragment(writer, follow) {
  if (typeof window === "undefined") {
    return;
  }
  window.addEventListener("hashchange", () => {
    const hash = window.location.hash;
    if (holdsSettings(hash) || hash.length < 2) {
      follow();
    } else {
      writer.write();
    }
  });
}

/** Write the fragment at once, or a little later if it was just written. */
function createFragmentWriter(fragment) {
  let timer = null;
  let last = -Infinity;

  /** Put the fragment into the address, where the browser lets us. */
  function replace() {
    timer = null;
    last = performance.now();
    const { location, history } = window;
    const text = fragment();
    if (text === location.hash || (!text && !holdsSettings(location.hash))) {
      return;
    }
    try {
      history.replaceState(null, "", text || location.pathname + location.search);
    } catch {
      // a sandboxed page has no address of its own; the settings still hold
    }
  }

  return {
    write() {
      if (typeof window === "undefined" || timer !== null) {
        return;
      }
      const wait = last + FRAGMENT_PAUSE - performance.now();
      if (wait <= 0) {
        replace();
      } else {
        timer = setTimeout(replace, wait);
      }
    },
  };
}

/** Rank position of the feature that is open; the strongest if none is. */
export function openedPosition(/** @type {View | null} */ view) {
  return view && view.state.feature !== null && view.state.feature !== undefined ? view.state.feature : 0;
}
