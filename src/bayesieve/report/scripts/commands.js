// @ts-check
// Commands: the same list from the command line and from Python.

import { unicodeDigits, UNSEEN, UNSEEN_ALL } from "./numbers.js";
import { RULE_NUMBERS } from "./rules.js";

/** @import { Payload, State } from "./types.js" */

const DEFAULT_RATIO = 0.1;

/** A word quoted for a POSIX shell, as Python's shlex.quote does; bash's $'...' shows signs that cannot be seen. */
export function quoteWord(word) {
  if (word !== "" && /^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) {
    return word;
  }
  if (UNSEEN.test(word)) {
    const escaped = word.replace(/[\\']/g, "\\$&");
    return `$'${escaped.replace(UNSEEN_ALL, (sign) => `\\u${unicodeDigits(sign)}`)}'`;
  }
  return `'${word.split("'").join("'\"'\"'")}'`;
}

/** The options of the rule. */
function ruleOptions(/** @type {State} */ state) {
  const options = RULE_NUMBERS[state.rule].map((name) => [`--${name.replace(/_/g, "-")}`, String(state[name])]);
  return ["--criterion", state.rule, ...options.flat()];
}

/** The options of the prior, as far as they are not the defaults of the command. */
function priorOptions(/** @type {Payload} */ payload, /** @type {State} */ state) {
  const options = [];
  if (state.prior !== null) {
    options.push("--prior-probability", String(state.prior));
  }
  if (state.ratio !== null && !(state.ratio === DEFAULT_RATIO && payload.ratio?.value === DEFAULT_RATIO)) {
    options.push("--prior-ratio", String(state.ratio));
  }
  return options;
}

/** The command that makes the list of a state; what it cannot say is said in a comment. */
export function cliCommand(/** @type {Payload} */ payload, /** @type {State} */ state) {
  const words = [...payload.commands.cli, ...priorOptions(payload, state), ...ruleOptions(state)];
  const before = payload.commands.before ? `${payload.commands.before}\n` : "";
  const command = before + words.map(quoteWord).join(" ");
  if (state.prior !== null || state.odds_factor === 1) {
    return command;
  }
  return `# No option multiplies all prior odds by ${String(state.odds_factor)}: use the lines of Python.`;
}

/** The rule as a Python expression. */
function ruleExpression(/** @type {State} */ state) {
  const text = (name) => String(state[name]);
  const expressions = {
    mnc: () => "bs.MinimalRisk(0.5)",
    mr: () => `bs.MinimalRisk(${text("threshold")})`,
    cmnc: () => `bs.FixedSize(${text("n_selected")})`,
    np: () => `bs.NeymanPearson(${text("expected_false_positives")})`,
    fdr: () => `bs.FalseDiscovery(${text("proportion")})`,
    fdp: () => `bs.FalseDiscovery(${text("proportion")}, confidence=${text("confidence")})`,
  };
  return expressions[state.rule]();
}

/** The lines that put another prior in the place of the stored one; none if it is the stored one. */
function priorLines(/** @type {Payload} */ payload, /** @type {State} */ state, name) {
  if (state.prior !== null) {
    const same = state.prior === payload.prior.probability;
    return same ? [] : [`${name} = ${name}.with_prior(${String(state.prior)})`];
  }
  if (state.odds_factor === 1) {
    return [];
  }
  const odds = `np.exp(-${name}.prior_log_odds) / ${String(state.odds_factor)}`;
  return ["import numpy as np", `${name} = ${name}.with_prior(1 / (1 + ${odds}))`];
}

/** The Python lines that make the list of a state. */
export function pythonCommand(/** @type {Payload} */ payload, /** @type {State} */ state) {
  const { python, posterior: name } = payload.commands;
  const ratio = state.ratio === null ? "" : String(state.ratio);
  const model = `bs.GaussianModel.jeffreys(${ratio})`;
  const lines = python.map((line) => line.split("{model}").join(model));
  const moved = state.ratio !== null && state.ratio !== payload.ratio?.value;
  if (python.every((line) => line.startsWith("#"))) {
    return lines.join("\n"); // they say why there are none
  }
  if (moved && payload.ratio && !python.some((line) => line.includes("{model}"))) {
    const { power, value } = payload.ratio;
    const shift = `${power} * math.log(${ratio} / ${String(value)})`;
    const moving = `${name} = dataclasses.replace(${name}, log_bayes_factor=${name}.log_bayes_factor + ${shift})`;
    lines.push("import dataclasses, math", moving);
  }
  lines.push(...priorLines(payload, state, name), `selection = ${ruleExpression(state)}.select(${name})`);
  return lines.join("\n");
}
