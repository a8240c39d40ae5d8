// Lists, their errors and the distribution of the number of false ones are those of the Python rules.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compositionParts } from "../../src/bayesieve/report/scripts/composition.js";
import { distributionOf, poissonBinomial } from "../../src/bayesieve/report/scripts/distribution.js";
import { expit } from "../../src/bayesieve/report/scripts/numbers.js";
import { createOrdering } from "../../src/bayesieve/report/scripts/ordering.js";
import {
  costOfThreshold, createEvidence, ratioPart, solve, thresholdOfCost,
} from "../../src/bayesieve/report/scripts/rules.js";
import { createStore } from "../../src/bayesieve/report/scripts/state.js";
import { close, fixture } from "./fixtures.mjs";

const RULES = ["cmnc", "fdp", "fdr", "mnc", "mr", "np"];
const CLOSE = {
  expected_true: "expectedTrue", expected_false: "expectedFalse", expected_missed: "expectedMissed",
  expected_markers: "expectedMarkers", false_discovery_rate: "falseDiscoveryRate", cut: "cut",
};
const studies = fixture("studies");
const EXACT = 200; // features down to which the page has a cut for every one

/** The list of a state and its distribution, as the page works them out. */
function solved(evidence, store, state) {
  store.set({ ...store.stored, ...state });
  const solution = solve(evidence, store.get());
  return { solution, distribution: distributionOf(evidence, store.get(), solution) };
}

/** Compare what shuffled labels say of a list: exact for few false positives, at most a fiftieth too large for many. */
function checkShuffled(where, { size, estimate }, known) {
  const near = (found, wanted, what, most = 1.08) => assert.ok(
    found >= wanted * (1 - 1e-9) - 1e-9 && found <= wanted * most + 1e-9, `${where}: ${what} ${found}, not ${wanted}`,
  );
  near(estimate.expected, known.expected_false, "expected", 1.025);
  near(estimate.low + 1, known.interval_low + 1, "low");
  near(estimate.high + 1, known.interval_high + 1, "high");
  if (known.expected_false < (EXACT - 1) * estimate.step) {
    close(estimate.expected, known.expected_false, `${where}: expected`);
    assert.equal(estimate.asLong, known.n_as_long, `${where}: as long`);
    if (size) close(estimate.hitRate, known.hit_rate, `${where}: hit rate`);
  }
}

/** Compare the numbers of one case with those of Python. */
function check(where, { solution, distribution }, { known, words, tied_out, cdf, by_model }) {
  assert.equal(solution.size, known.n_selected, `${where}: size`);
  assert.equal(solution.tiedOut, tied_out, `${where}: tied out`);
  assert.equal(solution.words, words, `${where}: words`);
  const { estimate } = solution;
  const of_model = estimate ? ["expected_missed", "expected_markers", "cut"] : Object.keys(CLOSE);
  for (const name of of_model) {
    close(solution[CLOSE[name]], known[name], `${where}: ${name}`);
  }
  close(solution.expectedFalse, known.model_false, `${where}: by the model`);
  if (estimate) {
    checkShuffled(where, solution, known);
  } else {
    assert.deepEqual(by_model, [known.interval_low, known.interval_high], `${where}: interval`);
  }
  assert.deepEqual([distribution.low, distribution.high], by_model, `${where}: interval of the model`);
  const reached = (end) => distribution.pmf.subarray(0, Math.max(0, end - distribution.lowest + 1)).reduce((sum, mass) => sum + mass, 0);
  [distribution.low, distribution.high].forEach((end, k) => close(reached(end), cdf[k], `${where}: distribution at ${end}`, { abs: 1e-9 }));
  if (solution.size && !estimate) {
    close(distribution.hitRate, known.hit_rate, `${where}: hit rate`, { abs: 1e-9 });
  }
}

/** Compare the number under the global null, which the page reads off a table: not to all digits, and not under a prior of 1. */
function checkUnderNull(where, state, { solution }, { known }, resolution = 0) {
  if (state.prior === 1) {
    assert.equal(solution.underNull, null, where); // every feature is taken for a marker
    return;
  }
  const abs = resolution ? resolution + Math.sqrt(resolution * known.under_null) : 1e-6; // standard error of draws
  close(solution.underNull ?? Number.NaN, known.under_null, `${where}: under the global null`, { rel: 0.01, abs });
}

for (const { name, payload, cases } of studies) {
  test(`every number is that of the Python rule: ${name}, ${cases.length} states`, () => {
    const evidence = createEvidence(payload);
    const store = createStore(payload);
    for (const each of cases) {
      const where = `${name}, ${JSON.stringify(each.state)}`;
      const found = solved(evidence, store, each.state);
      if (payload.shuffled && each.state.rule === "fdp" && each.known.n_selected > EXACT) {
        assert.ok(found.solution.size <= each.known.n_selected && found.solution.size >= EXACT, where);
        continue;
      }
      check(where, found, each);
      checkUnderNull(where, store.get(), found, each, payload.under_null?.resolution);
    }
  });

  test(`the table shows the list of the Python rule: ${name}`, () => {
    const evidence = createEvidence(payload);
    const store = createStore(payload);
    const column = { key: "rank", ranked: 1, value: (i) => i + 1 };
    const ordering = createOrdering([column, column], payload, payload.names.length);
    for (const { state, listed, known } of cases) {
      const { solution } = solved(evidence, store, { ...state, filter: "selected" });
      if (payload.shuffled && state.rule === "fdp" && known.n_selected > EXACT) continue;
      const rows = ordering.rows(store.get(), solution.size, solution.cut);
      assert.equal(rows.length, known.n_selected);
      assert.deepEqual(Array.from(rows.subarray(0, 50), (i) => payload.names[i]), listed, JSON.stringify(state));
    }
  });
}

test("the cases cover all rules under many priors", () => {
  const states = studies.flatMap(({ cases }) => cases.map(({ state }) => state));
  assert.ok(states.length >= 2000, `${states.length} states`);
  assert.deepEqual([...new Set(states.map(({ rule }) => rule))].sort(), RULES);
  for (const key of ["prior", "odds_factor", "ratio"]) {
    assert.ok(new Set(states.map((state) => state[key])).size >= 4, key);
  }
  const sizes = studies.flatMap(({ cases }) => cases.map(({ known }) => known.n_selected));
  assert.ok(sizes.some((size) => size > 4096) && sizes.includes(0) && sizes.includes(1));
  const tied = studies.flatMap(({ cases }) => cases.map(({ tied_out }) => tied_out));
  assert.ok(tied.some((count) => count > 0));
});

test("a number that is off is found", () => {
  const { payload, cases } = studies[0];
  const found = solved(createEvidence(payload), createStore(payload), cases[0].state);
  check("as it is", found, cases[0]);
  const off = (change) => () => check("off", found, { ...cases[0], known: { ...cases[0].known, ...change } });
  const { n_selected, expected_false, interval_high } = cases[0].known;
  assert.throws(off({ n_selected: n_selected + 1 }), /size/);
  assert.throws(off({ expected_false: expected_false * (1 + 1e-8) }), /expected_false/);
  assert.throws(off({ interval_high: interval_high + 1 }), /interval/);
});

test("the distribution of coins is that of Python", () => {
  for (const { odds, lowest, masses } of fixture("distributions")) {
    const sorted = [...odds].sort((a, b) => Math.abs(b) - Math.abs(a)); // those nearest to certainty first
    const distribution = poissonBinomial(Float64Array.from(sorted, expit), Float64Array.from(sorted, (x) => expit(-x)));
    const at = (from, pmf, count) => pmf[count - from] ?? 0;
    const last = Math.max(lowest + masses.length, distribution.lowest + distribution.pmf.length);
    for (let count = Math.min(lowest, distribution.lowest); count < last; count += 1) {
      const where = `${odds.length} coins, ${count}`;
      close(at(distribution.lowest, distribution.pmf, count), at(lowest, masses, count), where, { abs: 1e-15 });
    }
  }
});

test("the parts of the log-odds add up to them", () => {
  for (const { name, payload, cases } of studies.filter(({ name: each }) => !each.startsWith("a prior of"))) {
    const evidence = createEvidence(payload);
    const store = createStore(payload);
    for (const { state } of cases.slice(-12)) {
      store.set({ ...store.stored, ...state });
      const live = evidence.logOdds(store.get());
      for (let feature = 0; feature < Math.min(payload.names.length, 30); feature += 1) {
        const view = { state: { ...store.get(), feature } };
        const sum = compositionParts({ payload, evidence }, view).reduce((total, { value }) => total + value, 0);
        close(sum, live[feature], `${name}, feature ${feature}`, { rel: 1e-4, abs: 0.02 }); // single precision
      }
    }
  }
});

test("another prior moves all log-odds alike", () => {
  const { payload } = studies[0];
  const evidence = createEvidence(payload);
  const store = createStore(payload);
  store.set({ prior: 0.2, ratio: 0.7 });
  const shift = evidence.shift(store.get());
  evidence.logOdds(store.get()).forEach((x, i) => close(x - evidence.stored[i], shift, `feature ${i}`));
  close(ratioPart(evidence, store.get()), Math.log(7), "prior ratio");
  assert.equal(evidence.shift(store.stored), 0);
});

test("the same state gives the same object", () => {
  const { payload } = studies[0];
  const evidence = createEvidence(payload);
  const { stored } = createStore(payload);
  const first = solve(evidence, stored);
  assert.equal(solve(evidence, { ...stored, search: "x" }), first);
  assert.notEqual(solve(evidence, { ...stored, prior: 0.3 }), first);
  assert.deepEqual({ ...solve(evidence, stored), key: "" }, { ...first, key: "" });
});

test("a cost is a threshold", () => {
  assert.equal(thresholdOfCost(Number.POSITIVE_INFINITY), 1);
  for (const cost of [0, 0.25, 1, 9, 1e6]) {
    close(costOfThreshold(thresholdOfCost(cost)), cost, `cost ${cost}`);
  }
});
