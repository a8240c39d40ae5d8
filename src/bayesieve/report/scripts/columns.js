// @ts-check
// The columns of the table: what each holds, how it is told and how it is written to a file.

import { byId } from "./elements.js";
import { leastPrior } from "./least_prior.js";
import {
  decodedOnce, expit, formatCount, formatFixed, formatNumber, formatProbability, SINGLE_DIGITS,
} from "./numbers.js";

/** @import { Column, Details, Payload, PayloadColumn, View } from "./types.js" */

const DEFAULT_KEYS = ["holds_without_one_sample", "kind", "pattern", "mean_difference", "log_variance_ratio", "least_log_odds"];
const PHONE_WIDTHS = { selected: 28, rank: 54, feature: 80, log_odds: 78, probability: 92 };

/** Replace every encoded array of the payload by its typed array, leaving the rest as it is. */
export function decodeDetails(part) {
  if (part === null || typeof part !== "object") {
    return part;
  }
  if (Array.isArray(part)) {
    return part.length && typeof part[0] === "string" ? part : part.map(decodeDetails);
  }
  if (typeof part.type === "string" && typeof part.data === "string") {
    return decodedOnce(part);
  }
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, decodeDetails(value)]));
}

/**
 * Whether a feature hangs on one sample now: it passes the cut and, without a certain sample, would not. At the cut
 * of the report the stored flags hold, elsewhere the least log-odds tell; null if neither is known.
 */
export function createFragility(
  /** @type {Payload} */ payload, /** @type {Details} */ details, storedCut, /** @type {() => View} */ view,
) {
  const column = details.columns.find((each) => each.key === "least_log_odds" && !each.annotation);
  if (!column) {
    return details.fragile ? (i) => Boolean(details.fragile[i]) : null;
  }
  return (i) => {
    const { solution, logOdds, shift } = view();
    if (!payload.calibrated || i >= solution.size) {
      return false; // a list of least log-odds has stood the test already
    }
    if (details.fragile && atStoredCut(view(), storedCut)) {
      return Boolean(details.fragile[i]);
    }
    return logOdds[i] > solution.cut && column.values[i] + shift <= solution.cut;
  };
}

/** Whether the cut parts the stored log-odds where that of the report does. */
export function atStoredCut(/** @type {View} */ { solution, shift }, storedCut) {
  return shift === 0 ? solution.cut === storedCut : Math.abs(solution.cut - shift - storedCut) < 1e-9;
}

/** All columns in the order of the table. view() gives what the controls say now. */
export function createColumns(
  /** @type {Payload} */ payload, /** @type {Details} */ details, /** @type {() => View} */ view, fragile,
) {
  const own = details.columns.map((column) => payloadColumn(column));
  const taken = new Set(own.filter((column) => !column.annotation).map((column) => column.key));
  const statistics = statisticsColumns(payload, details).filter((column) => !taken.has(column.key));
  const columns = [
    markColumn(view),
    numberColumn("rank", "rank", (i) => i + 1, {
      text: (i) => formatCount(i + 1), width: 76, shown: true, ranked: 1, told: true,
    }),
    nameColumn(details.names),
    ...own.filter((column) => column.annotation),
    ...liveColumns(view, payload.prior.probability !== null),
    ...statistics,
    ...own.filter((column) => !column.annotation),
    ...degenerateColumns(details, fragile),
  ];
  const seen = new Set();
  const distinct = columns.filter((column) => !seen.has(column.key) && seen.add(column.key));
  chooseShown(distinct, payload.classes.length);
  return distinct;
}

/**
 * A column of numbers. `ranked`: the rank order sorts it upwards (1) or downwards (-1); `told`: the panel of a
 * feature tells it anyway; `single`: single precision.
 * @returns {Column}
 */
function numberColumn(key, title, value, options = {}) {
  const width = titleWidth(title, 104);
  return { key, title, kind: "number", value, text: evenText(value), width, ...options };
}

/** Texts of a column of numbers with the same number of decimals, so that they can be compared at a glance. */
function evenText(value) {
  let decimals = null;
  return (i) => {
    decimals = decimals ?? decimalsOf(value);
    const x = value(i);
    const size = Math.abs(x);
    const plain = Number.isFinite(x) && size < 1e7 && (size === 0 || size >= 0.5 * 10 ** -decimals);
    return plain ? formatFixed(x, decimals) : formatNumber(x, 4);
  };
}

/** Decimals that leave about four digits to a typical number at the top of a column; none for whole numbers. */
function decimalsOf(value) {
  const sizes = [];
  let whole = true;
  for (let i = 0; i < 200 && typeof value(i) === "number"; i += 1) {
    if (Number.isFinite(value(i)) && value(i) !== 0) {
      sizes.push(Math.abs(value(i)));
      whole = whole && Number.isInteger(value(i));
    }
  }
  if (whole || !sizes.length) {
    return 0;
  }
  sizes.sort((a, b) => a - b);
  return Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(sizes[sizes.length >> 1]))));
}

/**
 * The column that marks the features of the list.
 * @returns {Column}
 */
function markColumn(/** @type {() => View} */ view) {
  const listed = (i) => i < view().solution.size;
  return {
    key: "selected", title: "in the list", kind: "mark", width: 44, shown: true, fixed: true, ranked: -1,
    value: (i) => (listed(i) ? 1 : 0),
    text: (i) => (listed(i) ? "●" : ""),
    csv: (i) => (listed(i) ? "true" : "false"),
  };
}

/**
 * The column of names.
 * @returns {Column}
 */
function nameColumn(names) {
  const text = (i) => names[i];
  return { key: "feature", title: "feature", kind: "text", value: text, text, width: 190, shown: true, fixed: true };
}

/** Columns that follow the controls. */
function liveColumns(/** @type {() => View} */ view, /** @type {boolean} */ sharedPrior) {
  const odds = (i) => view().logOdds[i];
  const evidence = (i) => view().evidence.logBayesFactor[i] + view().ratioPart;
  return [
    numberColumn("log_odds", "log-odds", odds, {
      text: (i) => formatFixed(odds(i), 2), shown: true, ranked: -1, width: 100, told: true,
    }),
    numberColumn("probability", "probability", (i) => expit(odds(i)), {
      text: (i) => formatProbability(expit(odds(i)), odds(i)), shown: true, ranked: -1, width: 104, told: true,
    }),
    numberColumn("log_bayes_factor", "log Bayes factor", evidence, {}),
    ...(sharedPrior ? [numberColumn("least_prior", "listed from prior", (i) => leastPrior(view(), i), {
      text: (i) => formatNumber(leastPrior(view(), i), 2), ranked: 1, width: 130, told: true,
    })] : []),
  ];
}

/** Counts, means and standard deviations by class. */
function statisticsColumns(/** @type {Payload} */ payload, /** @type {Details} */ details) {
  if (!details.statistics) {
    return [];
  }
  const { count, mean, sd } = details.statistics;
  const at = (values, i) => (typeof values === "number" ? values : values[i]);
  const told = { single: true, told: true };
  const columns = [];
  payload.classes.forEach((label, c) => {
    columns.push(numberColumn(`n_${label}`, `n ${label}`, (i) => at(count[c], i), { width: 80, told: true }));
  });
  payload.classes.forEach((label, c) => {
    columns.push(numberColumn(`mean_${label}`, `mean ${label}`, (i) => mean[c][i], { statistic: "mean", ...told }));
  });
  payload.classes.forEach((label, c) => {
    columns.push(numberColumn(`sd_${label}`, `SD ${label}`, (i) => sd[c][i], { statistic: "sd", ...told }));
  });
  return columns;
}

/**
 * A column of the payload.
 * @returns {Column}
 */
function payloadColumn(/** @type {PayloadColumn} */ column) {
  const { key, title, pair } = column;
  const options = { annotation: Boolean(column.annotation), ofPrior: Boolean(column.of_prior), pair };
  if (column.kind === "text") {
    const { levels = [], codes } = column;
    const value = codes ? (i) => levels[codes[i]] : (i) => column.values[i];
    const text = (i) => value(i) ?? "";
    return { key, title, kind: "text", value: text, text, width: 140, levels, codes, ...options };
  }
  const value = (i) => column.values[i];
  if (column.kind === "flag") {
    return {
      key, title, kind: "flag", value, text: (i) => (value(i) ? "yes" : ""), csv: (i) => (value(i) ? "true" : "false"),
      width: 92, ...options,
    };
  }
  return numberColumn(key, title, value, { ...options, single: column.values instanceof Float32Array });
}

/** Why a feature is degenerate, and whether one sample carries it. */
function degenerateColumns(/** @type {Details} */ details, fragile) {
  const columns = /** @type {Column[]} */ ([]);
  if (details.degenerate) {
    const reasons = details.degenerate_reasons;
    const text = (i) => reasons[details.degenerate[i]] || "";
    columns.push({ key: "degenerate_reason", title: "degenerate", kind: "text", value: text, text, width: 180 });
  }
  if (fragile) {
    columns.push({
      key: "fragile", title: "fragile", kind: "flag", live: true, value: (i) => (fragile(i) ? 1 : 0), width: 84,
      text: (i) => (fragile(i) ? "yes" : ""), csv: (i) => (fragile(i) ? "true" : "false"),
    });
  }
  return columns;
}

/** Choose the columns shown at first: a few on a phone, else as many as there is room for; the rest by the chooser. */
function chooseShown(/** @type {Column[]} */ columns, nClasses) {
  if (window.matchMedia("(max-width: 46rem)").matches) {
    const narrowest = window.matchMedia("(max-width: 23.9rem)").matches;
    for (const column of columns) {
      column.shown = column.key in PHONE_WIDTHS && !(narrowest && column.key === "rank");
      column.width = PHONE_WIDTHS[column.key] || column.width;
    }
    return;
  }
  const always = columns.filter((column) => column.shown);
  let room = (byId("table-grid").clientWidth || 1200) - 48;
  room -= always.reduce((sum, column) => sum + column.width, 0);
  const wanted = [
    ...columns.filter((column) => column.annotation).slice(0, 3),
    ...DEFAULT_KEYS.flatMap((key) => columns.find((column) => column.key === key && !column.annotation) ?? []),
  ].map((column) => [column]);
  if (nClasses <= 2) {
    wanted.push(...["mean", "sd"].map((statistic) => columns.filter((column) => column.statistic === statistic)));
  }
  for (const group of wanted) {
    const width = group.reduce((sum, column) => sum + column.width, 0);
    if (width <= room) {
      group.forEach((column) => { column.shown = true; });
      room -= width;
    }
  }
}

/** Width of a column that shows its title, within bounds. */
function titleWidth(title, least) {
  return Math.max(least, Math.min(200, Math.round(8.2 * title.length + 26)));
}

/** Text of a cell in a file: all digits that are known, no sign of thousands, empty where nothing is known. */
function fileText(/** @type {Column} */ column, i) {
  if (column.csv) {
    return column.csv(i);
  }
  const value = column.value(i);
  if (value === null || value === undefined || Number.isNaN(value)) {
    return "";
  }
  if (typeof value !== "number" || Number.isFinite(value)) {
    return String(column.single ? Number(value.toPrecision(SINGLE_DIGITS)) : value);
  }
  return value > 0 ? "inf" : "-inf";
}

/** Quote a text for CSV as RFC 4180 says. Names that look like formulas are kept as they are: the file is data. */
export function quoteField(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows of the table as CSV, in the order shown and with all columns. */
export function tableCsv(/** @type {Column[]} */ columns, positions) {
  const lines = [columns.map((column) => quoteField(column.key)).join(",")];
  for (const i of positions) {
    lines.push(columns.map((column) => quoteField(fileText(column, i))).join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** A file name made from the title of the report. */
export function fileNameFrom(title, ending) {
  const plain = title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  return `${plain || "features"}${ending}`;
}

/** Hand a table to the browser as a file to keep. */
export function saveText(text, name) {
  saveBlob(new Blob([text], { type: "text/csv;charset=utf-8" }), name);
}

/** Hand something to the browser as a file to keep. */
export function saveBlob(/** @type {Blob} */ blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
