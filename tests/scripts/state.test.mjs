// The state: what it takes, what it refuses, its address; and the order of the rows of the table.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createOrdering } from "../../src/bayesieve/report/scripts/ordering.js";
import { createStore, openedPosition, priorMoved } from "../../src/bayesieve/report/scripts/state.js";

const PAYLOAD = {
  n_features: 3, names: ["b 10", "b 2", "a=&#"], prior: { probability: 0.1, log_odds: -2.2 }, ratio: { value: 0.1, power: 1 },
  rule: { name: "mr", threshold: 0.9, n_selected: 100, expected_false_positives: 5, proportion: 0.1, confidence: 0.9 },
};

/** A store as in a page with this fragment in its address. */
function storeAt(hash, payload = PAYLOAD) {
  globalThis.window = { location: { hash }, addEventListener: () => {} };
  return createStore(payload);
}

afterEach(() => {
  delete globalThis.window;
});

test("a page opens with the settings of its report", () => {
  const { stored } = createStore(PAYLOAD);
  assert.deepEqual([stored.rule, stored.threshold, stored.n_selected, stored.prior], ["mr", 0.9, 3, 0.1]);
  assert.equal(createStore({ ...PAYLOAD, rule: { name: "__proto__" } }).stored.rule, "mnc");
});

test("what is out of bounds is brought back, what is no number refused", () => {
  const store = createStore(PAYLOAD);
  store.set({ threshold: 7, n_selected: 1.6, prior: -1, feature: 99, rule: "none", filter: "none", search: "x".repeat(30000) });
  const { threshold, n_selected, prior, feature, rule, filter, search } = store.get();
  assert.deepEqual([threshold, n_selected, prior, feature, rule, filter], [1, 2, 0, null, "mr", "all"]);
  assert.equal(search.length, 20000);
  store.set({ threshold: Number.NaN, unknown: 1 });
  assert.equal(store.get().threshold, 1);
  assert.equal("unknown" in store.get(), false);
});

test("a prior of 0 or 1 and a prior of each feature cannot be moved as a shared one", () => {
  for (const [prior, moved] of [[0, 0], [1, 1], [null, null]]) {
    const store = createStore({ ...PAYLOAD, prior: { probability: prior, log_odds: null } });
    store.set({ prior: 0.4, odds_factor: 2 });
    assert.equal(store.get().prior, moved);
    assert.equal(store.get().odds_factor, prior === null ? 2 : 1);
  }
});

test("followers hear of changes, and of changes only", () => {
  const store = createStore(PAYLOAD);
  const heard = [];
  const stop = store.subscribe((state, previous) => heard.push([previous.threshold, state.threshold]));
  store.set({ threshold: 0.5 });
  store.set({ threshold: 0.5 });
  assert.equal(store.isStored(), false);
  store.reset();
  stop();
  store.set({ threshold: 0.1 });
  assert.deepEqual(heard, [[0.9, 0.5], [0.5, 0.9]]);
});

test("an address brings every setting back", () => {
  const settings = {
    rule: "fdp", proportion: 0.07, confidence: 0.95, prior: 1e-5, ratio: 2.5, feature: 2, search: "a & b=#é",
    sort_key: "feature", sort_descending: true, filter: "selected",
  };
  const store = createStore(PAYLOAD);
  assert.equal(store.fragment(), "");
  store.set(settings);
  const again = storeAt(store.fragment()).get();
  assert.deepEqual({ ...again }, { ...store.get() });
});

test("an address that is not understood does no harm", () => {
  const odd = "#rule=__proto__&threshold=0x10&confidence=1e999&prior=-3&ratio=&feature=nobody&sort_descending=maybe&filter=%";
  assert.deepEqual({ ...storeAt(odd).get() }, { ...createStore(PAYLOAD).stored });
  assert.equal(storeAt("#n_selected=1000000").get().n_selected, 3);
});

test("views tell what is open and whether the prior was moved", () => {
  const store = createStore(PAYLOAD);
  const view = () => ({ state: store.get(), stored: store.stored });
  assert.deepEqual([openedPosition(null), openedPosition(view()), priorMoved(view())], [0, 0, false]);
  store.set({ feature: 2, ratio: 0.2 });
  assert.deepEqual([openedPosition(view()), priorMoved(view())], [2, true]);
});

test("rows are sorted as people count, what is missing last", () => {
  const values = [3, Number.NaN, 1];
  const columns = [
    { key: "feature", kind: "text", value: (i) => PAYLOAD.names[i], text: (i) => PAYLOAD.names[i] },
    { key: "rank", kind: "number", ranked: 1, value: (i) => i + 1 },
    { key: "x", kind: "number", value: (i) => values[i] },
    { key: "level", kind: "text", levels: ["z", ""], codes: [1, 0, 0], text: (i) => ["", "z", "z"][i] },
  ];
  const details = { names: PAYLOAD.names, degenerate: [0, 1, 0] };
  const ordering = createOrdering(columns, details, 3);
  const rows = (settings, size = 2) => {
    const state = { sort_key: "rank", sort_descending: false, filter: "all", search: "", ...settings };
    return Array.from(ordering.rows(state, size, 0));
  };
  assert.deepEqual(rows({}), [0, 1, 2]);
  assert.deepEqual(rows({ sort_descending: true }), [2, 1, 0]);
  assert.deepEqual(rows({ sort_key: "feature" }), [2, 1, 0]);
  assert.deepEqual(rows({ sort_key: "x" }), [2, 0, 1]);
  assert.deepEqual(rows({ sort_key: "x", sort_descending: true }), [0, 2, 1]);
  assert.deepEqual(rows({ sort_key: "level" }), [1, 2, 0]);
  assert.deepEqual(rows({ filter: "selected" }), [0, 1]);
  assert.deepEqual(rows({ filter: "degenerate" }), [1]);
  assert.deepEqual(rows({ filter: "fragile" }), []);
  assert.deepEqual(rows({ search: "B Z" }), [1]);
});
