// @ts-check
// Which rows of the table are shown and in what order: sorting, filtering, searching.

import { byId } from "./elements.js";
import { formatCount } from "./numbers.js";
import { searchFor } from "./search.js";

/** @import { Column, Context, Details, Ordering, State, View } from "./types.js" */

/** A text that sorts as people count: case does not matter and x2 comes before x10. */
function naturalKey(text) {
  return text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0"));
}

/** Rows of a table of n features; rows(state, size) gives the rank positions to show. */
export function createOrdering(/** @type {Column[]} */ columns, /** @type {Details} */ details, n) {
  /** @type {Ordering} */
  const ordering = { columns, details, n, sorted: new Map(), haystack: null, missing: [], last: new Uint32Array(0), lastKey: "" };
  return {
    missing: () => ordering.missing,
    rows(state, size, cut) {
      const uses = (key) => state.filter === key || state.sort_key === key;
      const count = uses("fragile") ? `${size} ${cut}` : uses("selected") ? size : "";
      const picked = state.filter === "picked" ? state.picked : "";
      const key = JSON.stringify([state.sort_key, state.sort_descending, state.filter, state.search, count, picked]);
      if (key !== ordering.lastKey) {
        ordering.last = shownRows(ordering, state, size);
        ordering.lastKey = key;
      }
      return ordering.last;
    },
  };
}

/** Rank positions that pass filter and search, in the order wanted. */
function shownRows(/** @type {Ordering} */ ordering, /** @type {State} */ state, size) {
  const sorted = sortedRows(ordering, state);
  const { keep: matches, missing } = searchFor(state.search || "", ordering.details.names, () => haystackOf(ordering));
  ordering.missing = missing;
  const keep = filterOf(ordering, state, size);
  if (!matches && !keep) {
    return sorted;
  }
  return sorted.filter((i) => (!keep || keep(i)) && (!matches || matches(i)));
}

/** The condition of a filter on a rank position, or null for all. */
function filterOf(/** @type {Ordering} */ { details, columns }, /** @type {State} */ { filter, picked }, size) {
  if (filter === "picked") {
    const chosen = new Set(picked ? picked.split(",").map(Number) : []);
    return (i) => chosen.has(i);
  }
  if (filter === "selected") {
    return (i) => i < size;
  }
  if (filter === "degenerate") {
    return (i) => Boolean(details.degenerate?.[i]);
  }
  if (filter === "fragile") {
    const column = columns.find((each) => each.key === "fragile" && each.live);
    return (i) => Boolean(column?.value(i));
  }
  return null;
}

/** Say in the choice of filters how many features each would show now. */
export function tellFilters(/** @type {Context} */ { details, isFragile }, /** @type {View} */ { solution }) {
  const degenerate = details.degenerate ? details.degenerate.reduce((sum, flag) => sum + (flag ? 1 : 0), 0) : 0;
  const most = Math.min(solution.size, details.names.length);
  let fragile = 0;
  for (let i = 0; isFragile && i < most; i += 1) {
    fragile += isFragile(i) ? 1 : 0;
  }
  for (const option of byId("table-filter").options) {
    const count = { degenerate, fragile }[option.value];
    if (count !== undefined) {
      option.disabled = !count && !option.selected;
      option.textContent = `${option.value} (${formatCount(count)})`;
    }
  }
}

/** Names and texts of every row in lower case, made at the first search. */
function haystackOf(/** @type {Ordering} */ ordering) {
  if (!ordering.haystack) {
    const texts = ordering.columns.filter((column) => column.kind === "text" && column.key !== "feature");
    ordering.haystack = Array.from({ length: ordering.n }, (_, i) => {
      return [ordering.details.names[i], ...texts.map((column) => column.text(i))].join("\n").toLowerCase();
    });
  }
  return ordering.haystack;
}

/** All rank positions sorted by a column; what is missing comes last either way, ties stay in rank order. */
function sortedRows(/** @type {Ordering} */ ordering, /** @type {State} */ state) {
  const column = ordering.columns.find((candidate) => candidate.key === state.sort_key) || ordering.columns[1];
  const descending = Boolean(state.sort_descending);
  const ranked = column.ranked || 0;
  if (ranked) {
    return ranked === (descending ? -1 : 1) ? countUp(ordering.n) : countUp(ordering.n).reverse();
  }
  if (column.live) {
    return sortByKeys(sortKeys(column, ordering.n), descending);
  }
  const key = `${column.key}\n${descending}`;
  if (!ordering.sorted.has(key)) {
    ordering.sorted.set(key, sortByKeys(sortKeys(column, ordering.n), descending));
  }
  return /** @type {Uint32Array} */ (ordering.sorted.get(key));
}

/** 0, 1, ..., n-1. */
function countUp(n) {
  return new Uint32Array(n).map((_, i) => i);
}

/** Numbers that sort like the values of a column; NaN where nothing is known. */
function sortKeys(/** @type {Column} */ column, n) {
  if (column.kind !== "text") {
    return new Float64Array(n).map((_, i) => column.value(i) ?? NaN);
  }
  const { codes, levels = [] } = column;
  if (codes) {
    const places = ordinals(levels.map(String));
    return new Float64Array(n).map((_, i) => places[codes[i]]);
  }
  return ordinals(Array.from({ length: n }, (_, i) => column.text(i)));
}

/** Place of each text among the distinct ones; NaN for empty texts. */
function ordinals(texts) {
  const keys = texts.map(naturalKey);
  const places = new Map([...new Set(keys)].sort().map((key, place) => [key, place]));
  return Float64Array.from(keys, (key) => (key === "" ? NaN : places.get(key) ?? NaN));
}

/** Rank positions by their keys. */
function sortByKeys(keys, descending) {
  const sign = descending ? -1 : 1;
  const known = countUp(keys.length).filter((i) => !Number.isNaN(keys[i]));
  const missing = countUp(keys.length).filter((i) => Number.isNaN(keys[i]));
  known.sort((a, b) => sign * (keys[a] > keys[b] ? 1 : keys[a] < keys[b] ? -1 : 0) || a - b);
  const rows = new Uint32Array(keys.length);
  rows.set(known);
  rows.set(missing, known.length);
  return rows;
}
