// Numbers and words: functions that Python has too agree with it, the others with what is written here.

import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteField, tableCsv } from "../../src/bayesieve/report/scripts/columns.js";
import { cliCommand, pythonCommand, quoteWord } from "../../src/bayesieve/report/scripts/commands.js";
import * as numbers from "../../src/bayesieve/report/scripts/numbers.js";
import * as scales from "../../src/bayesieve/report/scripts/scales.js";
import { close, fixture } from "./fixtures.mjs";

test("numbers are written, squeezed and stretched as Python does", () => {
  const { general, expit, logit, student } = fixture("numbers");
  for (const [x, text] of general) {
    assert.equal(numbers.formatGeneral(x), text);
  }
  for (const [x, p] of expit) {
    close(numbers.expit(x), p, `expit ${x}`, { rel: 1e-14, abs: 0 });
  }
  for (const [p, x] of logit) {
    close(numbers.logit(p), x, `logit ${p}`, { rel: 1e-12, abs: 1e-15 });
  }
  for (const [dof, location, scale, x, density] of student) {
    close(scales.studentDensity(dof, location, scale)(x), density, `t ${dof} at ${x}`, { rel: 1e-8 });
  }
  close(scales.studentDensity(Number.POSITIVE_INFINITY, 0, 1)(0), 1 / Math.sqrt(2 * Math.PI), "normal");
  assert.equal(scales.studentDensity(3, 0, 0), null);
});

test("words are quoted as Python quotes them", () => {
  const { shell, csv } = fixture("texts");
  for (const [word, quoted] of shell) {
    assert.equal(quoteWord(word), quoted);
  }
  for (const [word, quoted] of csv.filter(([each]) => each !== "")) {
    assert.equal(quoteField(word), quoted);
  }
  assert.equal(quoteWord("a\u202eb'c"), "$'a\\u202eb\\'c'");
});

test("arrays of the payload are little-endian", () => {
  const data = Buffer.from(Float64Array.of(1.5, -2, Number.NaN).buffer).toString("base64");
  const encoded = { type: "f8", data };
  assert.deepEqual(numbers.decodeArray(encoded), Float64Array.of(1.5, -2, Number.NaN));
  assert.equal(numbers.decodedOnce(encoded), numbers.decodedOnce(encoded));
  assert.deepEqual([numbers.decodeArray(null), numbers.decodedOnce(undefined), numbers.decodedOnce(3)], [null, null, 3]);
});

test("numbers for people", () => {
  const { formatNumber, formatCompact, formatFixed, formatCount, formatSigned, formatApart } = numbers;
  const told = [0, 1, 0.00123456, 1.23e-9, 20000, 123.456, -0.5, 1e9, Number.NaN, null].map((x) => formatNumber(x));
  assert.deepEqual(told, ["0", "1", "0.00123", "1.23e-9", "20,000", "123", "\u22120.5", "1e9", "\u2013", "\u2013"]);
  assert.deepEqual([formatNumber(Number.NEGATIVE_INFINITY), formatNumber(9.996)], ["\u2212\u221e", "10"]);
  assert.deepEqual([formatCompact(1234567), formatCompact(-2e6), formatCompact(999)], ["1.23e6", "\u22122e6", "999"]);
  assert.deepEqual([formatFixed(1234.5, 2), formatFixed(-0.001, 2), formatFixed(-1, 0)], ["1,234.50", "0.00", "\u22121"]);
  assert.deepEqual([formatCount(20000), formatCount(-0.2), formatCount(null)], ["20,000", "0", "\u2013"]);
  assert.deepEqual([formatSigned(1.2), formatSigned(-0.3), formatSigned(0)], ["+1.2", "\u22120.3", "0"]);
  assert.deepEqual(formatApart([1.00001, 1.00002], 3, 7), ["1.00001", "1.00002"]);
  assert.deepEqual(formatApart([1, 1], 3, 7), ["1", "1"]);
});

test("chances never pretend to be certain", () => {
  const { formatChance, formatProbability, formatUnderNull } = numbers;
  assert.deepEqual([0.76, 0.9995, 0.0001, 0.995, 0.05].map(formatChance), ["76%", ">99.9%", "<0.1%", "99.5%", "5.0%"]);
  assert.deepEqual([0.5, 1, 0].map((p) => formatProbability(p)), ["0.5000", ">0.9999", "<0.0001"]);
  assert.equal(formatProbability(1, 0), "0.5000");
  const payload = { under_null: { resolution: 0.01 } };
  assert.deepEqual([formatUnderNull(0.001, payload), formatUnderNull(3, payload)], ["<0.01", "3"]);
});

test("names show what cannot be seen", () => {
  assert.equal(numbers.shownName("a\u202eb"), "a\u27e8U+202E\u27e9b");
  assert.equal(numbers.shownName("plain"), "plain");
  assert.equal(numbers.shorten("abcdef", 4), "abc\u2026");
});

test("the first place where something holds", () => {
  for (let n = 0; n < 20; n += 1) {
    for (let from = 0; from <= n; from += 1) {
      assert.equal(numbers.firstWhere(n, (i) => i >= from), from);
    }
  }
});

test("scales go there and back, ticks are round", () => {
  const made = [
    scales.linearScale([-2, 5], [10, 90]), scales.logScale([1, 1000], [0, 300]),
    scales.symlogScale([-50, 900], [200, 0], 5), scales.countScale([0, 1e4], [100, 0]),
  ];
  for (const scale of made) {
    const [low, high] = scale.domain;
    assert.deepEqual([scale(low), scale(high)].map(Math.round), scale.range);
    for (const share of [0.1, 0.5, 0.9]) {
      const x = low + share * (high - low);
      close(scale.invert(scale(x)), x, `${x}`);
    }
  }
  assert.deepEqual(scales.niceTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(scales.logTicks([1, 20000]), [1, 10, 100, 1000, 10000]);
  assert.deepEqual(scales.tickTexts([-0.5, 0, 0.25]), ["\u22120.50", "0.00", "0.25"]);
  assert.deepEqual(scales.finiteExtent([Number.NaN, 3, Number.POSITIVE_INFINITY], [-1]), [-1, 3]);
  assert.equal(scales.finiteExtent([Number.NaN]), null);
  assert.equal(scales.lastAtMost([0, 1, 1, 4], 1, 3), 2);
});

test("commands hold the rule and the prior", () => {
  const payload = {
    prior: { probability: 0.1 }, ratio: { value: 0.1, power: 1 },
    commands: { cli: ["bayesieve", "screen", "my study.csv"], python: ["posterior = screen({model})"], posterior: "posterior" },
  };
  const state = { rule: "fdp", proportion: 0.2, confidence: 0.8, prior: 0.1, odds_factor: 1, ratio: 0.1 };
  assert.equal(
    cliCommand(payload, state),
    "bayesieve screen 'my study.csv' --prior-probability 0.1 --criterion fdp --proportion 0.2 --confidence 0.8",
  );
  assert.match(cliCommand(payload, { ...state, ratio: 0.03 }), /--prior-ratio 0.03/);
  assert.equal(pythonCommand(payload, { ...state, rule: "mnc", prior: 0.2 }), [
    "posterior = screen(bs.GaussianModel.jeffreys(0.1))", "posterior = posterior.with_prior(0.2)",
    "selection = bs.MinimalRisk(0.5).select(posterior)",
  ].join("\n"));
  assert.match(cliCommand(payload, { ...state, prior: null, odds_factor: 3 }), /^# No option multiplies all prior odds by 3/);
});

test("a table is written with all digits", () => {
  const columns = [
    { key: "feature", value: (i) => ["a,b", 'c"d'][i] }, { key: "x", value: (i) => [0.1 + 0.2, Number.NaN][i] },
    { key: "single", single: true, value: (i) => [Math.fround(0.1), Number.NEGATIVE_INFINITY][i] },
    { key: "flag", csv: (i) => String(i === 0) },
  ];
  const lines = ["feature,x,single,flag", '"a,b",0.30000000000000004,0.1,true', '"c""d",,-inf,false', ""];
  assert.equal(tableCsv(columns, [0, 1]), lines.join("\r\n"));
});
