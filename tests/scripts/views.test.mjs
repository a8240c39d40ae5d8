// The contour, the search of a list, areas under the curve and charts as SVG.

import assert from "node:assert/strict";
import { test } from "node:test";
import { principalComponents } from "../../src/bayesieve/report/scripts/components.js";
import { contourAt, contourLines } from "../../src/bayesieve/report/scripts/contour.js";
import { featuresInside } from "../../src/bayesieve/report/scripts/map_tools.js";
import { areaUnderCurve } from "../../src/bayesieve/report/scripts/other_ranks.js";
import { createRecorder, xmlText } from "../../src/bayesieve/report/scripts/recorder.js";
import { leastPrior } from "../../src/bayesieve/report/scripts/least_prior.js";
import { createEvidence, solve } from "../../src/bayesieve/report/scripts/rules.js";
import { listsByPrior } from "../../src/bayesieve/report/scripts/sensitivity.js";
import { searchFor } from "../../src/bayesieve/report/scripts/search.js";
import { close, fixture } from "./fixtures.mjs";

test("the contour lies where Python's log Bayes factor is at the cut", () => {
  const cases = fixture("contours");
  assert.ok(cases.length >= 3);
  for (const { surface, level, y, x } of cases) {
    y.forEach((height, k) => close(contourAt(surface, level, height), x[k], `x at ${height}`, { rel: 1e-9 }));
    const [right, left] = contourLines(surface, level, [y[0], y[y.length - 1]]);
    right.forEach(([a, b], k) => assert.deepEqual([-a, b], left[k]));
  }
});

test("the contour of a grid is where its heights cross the level", () => {
  const encode = (numbers) => ({ type: "f8", data: Buffer.from(new Float64Array(numbers).buffer).toString("base64") });
  const x = [0, 1, 2];
  const y = [-1, 0, 1];
  const heights = y.flatMap((b) => x.map((a) => 2 * a + b)); // a plane: straight between its nodes
  const surface = { kind: "grid", x: encode(x), y: encode(y), log_bayes_factor: encode(heights) };
  const lines = contourLines(surface, 1.5, [-1, 1]);
  assert.ok(lines.length >= 4);
  for (const [a, b] of lines.flat()) close(2 * Math.abs(a) + b, 1.5, "height", { rel: 1e-12 });
});

test("components are those of Python's eigenvectors", () => {
  for (const { rows, n, width, x, y, share } of fixture("components")) {
    const found = principalComponents(Float64Array.from(rows), n, width);
    share.forEach((part, k) => close(found.share[k], part, "share", { rel: 1e-5 }));
    const largest = Math.max(...x.map(Math.abs));
    [[found.x, x], [found.y, y]].forEach(([mine, known]) => {
      known.forEach((place, k) => close(mine[k], place, `sample ${k} of ${width}`, { abs: 1e-3 * largest }));
    });
  }
  assert.equal(principalComponents(new Float64Array(12), 3, 4), null);
  assert.equal(principalComponents(Float64Array.from([1, -1]), 1, 2), null);
});

test("a list finds names first, then texts, then parts, and says what is not there", () => {
  const names = ["TP53", "BRCA1", "tp53i3", "MYC", "gene 1", "gene 12"];
  const hay = names.map((name, i) => `${name}\nchr${i}`.toLowerCase());
  const rows = (text) => {
    const { keep, missing } = searchFor(text, names, () => hay);
    return [hay.flatMap((_, i) => (!keep || keep(i) ? [i] : [])), missing];
  };
  assert.deepEqual(rows("tp53, BRCA1"), [[0, 1], []]);
  assert.deepEqual(rows("tp53;nothing\tmyc\n"), [[0, 3], ["nothing"]]);
  assert.deepEqual(rows("tp53i, chr3"), [[2, 3], []]);
  assert.deepEqual(rows("tp53"), [[0, 2], []]); // one word: all that hold it
  assert.deepEqual(rows("gene 1"), [[4, 5], []]);
  assert.deepEqual(rows("TP53 MYC"), [[0, 3], []]); // names one after another
  assert.deepEqual(rows("zz"), [[], ["zz"]]);
  assert.deepEqual(rows(" , "), [[0, 1, 2, 3, 4, 5], []]);
});

test("areas under the curve count ties half", () => {
  const encode = (type, array) => ({ type, data: Buffer.from(array.buffer).toString("base64") });
  const payload = (data, owner) => ({
    classes: ["a", "b"], paired: false,
    values: { n: 1, class: encode("u1", Uint8Array.from(owner)), data: encode("f4", Float32Array.from(data)), samples: [] },
  });
  assert.equal(areaUnderCurve(payload([1, 2, 3, 4], [0, 0, 1, 1]), 0), 1);
  assert.equal(areaUnderCurve(payload([1, 1, 1, NaN], [0, 1, 1, 1]), 0), 0.5);
  assert.equal(areaUnderCurve(payload([2, 1, 2, 3], [0, 1, 1, 1]), 0), 0.5);
  assert.equal(areaUnderCurve(payload([2, 1], [0, 1]), 1), null);
});

test("a box and a lasso hold what lies inside them", () => {
  const places = Float32Array.from([10, 10, 20, 20, 30, 10, NaN, NaN]);
  assert.deepEqual(featuresInside({ places }, [[25, 25], [5, 5]]), [0, 1]);
  assert.deepEqual(featuresInside({ places }, [[5, 5], [35, 5], [35, 15], [20, 12], [5, 15]]), [0, 2]);
});

test("drawing calls become SVG that is escaped", () => {
  const real = { font: "", measureText: (text) => ({ width: text.length }) };
  const recorder = createRecorder(real, 200, 100);
  recorder.font = "600 12px sans-serif";
  recorder.fillStyle = "rgb(1, 2, 3)";
  recorder.fillText('<b onload="x">&\u0001', 5, 6);
  recorder.save();
  recorder.beginPath();
  recorder.rect(0, 0, 10, 10);
  recorder.clip();
  recorder.restore();
  recorder.beginPath();
  recorder.arc(5, 5, 2, 0, 2 * Math.PI);
  recorder.stroke();
  const text = recorder.svg("a < b");
  assert.ok(text.includes("&lt;b onload=&quot;x&quot;&gt;&amp;</text>"));
  assert.ok(text.includes("<title>a &lt; b</title>"));
  assert.equal((text.match(/<g /g) ?? []).length, (text.match(/<\/g>/g) ?? []).length);
  assert.equal(xmlText("'"), "&#39;");
});

test("lists under other priors are those of Python, and a feature is listed from its least prior on", () => {
  const { payload, known } = fixture("priors");
  const evidence = createEvidence(payload);
  const state = { rule: "mnc", prior: payload.prior.probability, odds_factor: 1, ratio: payload.ratio.value };
  const view = { evidence, state, ratioPart: 0 };
  const lists = listsByPrior(view);
  lists.forEach(({ prior, size, wrong }, k) => {
    close(prior, known[k].prior, "prior", { rel: 1e-12 });
    assert.equal(size, known[k].size);
    close(wrong, known[k].wrong, "false positives", { rel: 1e-9 });
  });
  for (const position of [0, 3, 20, 100]) {
    const least = leastPrior(view, position);
    assert.ok(solve(evidence, { ...state, prior: least * (1 + 1e-9) }).size > position);
    assert.ok(solve(evidence, { ...state, prior: least * (1 - 1e-9) }).size <= position);
  }
});
