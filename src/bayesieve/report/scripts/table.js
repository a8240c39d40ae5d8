// @ts-check
// The table of all features: only the rows in sight exist, and they are used again while it scrolls.

import { fileNameFrom, saveText, tableCsv } from "./columns.js";
import { byId, followField, oncePerFrame } from "./elements.js";
import { formatCount, shorten, shownName } from "./numbers.js";
import { createOrdering, tellFilters } from "./ordering.js";
import { connectPaste } from "./search.js";
import { priorMoved } from "./state.js";
import { connectGrid } from "./table_keys.js";

/** @import { Column, Context, Slot, State, Table, View } from "./types.js" */

const MOST_MISSING = 12; // terms that are named

/** Make the table; update(view) follows the state, redraw() the size. */
export function createTable(/** @type {Context} */ context) {
  const grid = byId("table-grid");
  const table = /** @type {Table} */ (/** @type {unknown} */ ({
    context, grid, top: grid.querySelector(".grid-head"), head: grid.querySelector(".grid-head .grid-row"),
    body: grid.querySelector(".grid-body"), columns: context.columns, shown: [], rows: new Uint32Array(0),
    slots: [], first: 0, active: 0, rowHeight: 34, boxes: new Map(), writing: false,
    paint: () => paintRows(table),
    ordering: createOrdering(context.columns, context.details, context.details.names.length),
  }));
  grid.style.setProperty("--rows", String(Math.max(5, context.details.names.length)));
  connectTools(table);
  connectGrid(table);
  buildChooser(table);
  layOutColumns(table);
  return {
    update: (view) => updateTable(table, view),
    redraw: () => { measureTable(table); paintRows(table); },
  };
}

/** Follow the state: rows to show, marks of sorting, count; then paint. */
function updateTable(/** @type {Table} */ table, /** @type {View} */ view) {
  const before = table.view ? table.view.state : null;
  if (!before || table.view.solution !== view.solution) {
    tellFilters(table.context, view);
  }
  table.view = view;
  const { state } = view;
  const rows = table.ordering.rows(state, view.solution.size, view.solution.cut - view.shift);
  const fresh = rows !== table.rows;
  table.rows = rows;
  if (!before || before.sort_key !== state.sort_key || before.sort_descending !== state.sort_descending) {
    showSortColumn(table);
    markSorting(table);
  }
  if (fresh) {
    table.body.style.height = `${rows.length * table.rowHeight}px`;
    table.grid.setAttribute("aria-rowcount", String(rows.length + 1));
    table.active = Math.min(table.active, Math.max(0, rows.length - 1));
    if (before && (before.search !== state.search || before.filter !== state.filter || before.sort_key !== state.sort_key
      || before.sort_descending !== state.sort_descending)) {
      table.grid.scrollTop = 0;
      table.active = 0;
    }
    tellCount(table);
  }
  if (!table.writing) { // what is being written is left alone; what comes from elsewhere is shown
    followField(byId("table-search"), state.search || "");
  }
  followField(byId("table-filter"), state.filter);
  paintRows(table);
}

/** Say how many rows are shown of how many features. */
function tellCount(/** @type {Table} */ table) {
  const { payload, details } = table.context;
  const listed = details.names.length;
  const shown = formatCount(table.rows.length);
  const rest = payload.n_features > listed ? ` The table holds the ${formatCount(listed)} most probable.` : "";
  const text = table.rows.length === listed
    ? `${shown} of ${formatCount(payload.n_features)} features.${rest}`
    : `${table.rows.length ? shown : "None"} of ${formatCount(payload.n_features)} features match.${rest}`;
  const missing = table.ordering.missing().map((term) => shorten(shownName(term), 30));
  const more = missing.length > MOST_MISSING ? ` and ${formatCount(missing.length - MOST_MISSING)} more` : "";
  const unknown = missing.length ? ` Not found: ${missing.slice(0, MOST_MISSING).join(", ")}${more}.` : "";
  byId("table-count").textContent = text + unknown;
}

/** Search, filter and download. */
function connectTools(/** @type {Table} */ table) {
  const { store, payload } = table.context;
  const search = byId("table-search");
  const filter = byId("table-filter");
  const write = oncePerFrame(() => {
    store.set({ search: search.value });
    table.writing = false;
  });
  connectPaste(search);
  search.addEventListener("input", () => { table.writing = true; write(); });
  filter.addEventListener("change", () => store.set({ filter: filter.value }));
  byId("download-csv").addEventListener("click", () => {
    saveText(tableCsv(table.columns, table.rows), fileNameFrom(payload.title, ".csv"));
    table.context.announce(`${formatCount(table.rows.length)} rows written to ${fileNameFrom(payload.title, ".csv")}.`);
  });
}

/** Boxes to choose the columns by. */
function buildChooser(/** @type {Table} */ table) {
  const details = byId("table-columns");
  for (const column of table.columns.filter((candidate) => !candidate.fixed)) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = Boolean(column.shown);
    table.boxes.set(column.key, box);
    box.addEventListener("change", () => {
      column.shown = box.checked;
      layOutColumns(table);
      paintRows(table);
    });
    label.append(box, shownName(column.title));
    details.querySelector("fieldset")?.append(label);
  }
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      details.open = false;
      details.querySelector("summary")?.focus();
      event.stopPropagation();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    if (!details.contains(/** @type {Node} */ (event.target))) {
      details.open = false;
    }
  });
}

/** Make the heading of the columns shown and throw away the rows that had others. */
function layOutColumns(/** @type {Table} */ table) {
  const shown = table.columns.filter((column) => column.shown);
  table.shown = shown;
  const growth = { text: "1.6fr", mark: "0" };
  const widths = shown.map((column) => `minmax(${column.width}px, ${growth[column.kind] || "1fr"})`);
  table.grid.style.setProperty("--columns", widths.join(" "));
  table.grid.setAttribute("aria-colcount", String(shown.length));
  const edges = 2 * parseFloat(getComputedStyle(table.head).paddingLeft);
  const width = `${shown.reduce((sum, column) => sum + column.width, edges)}px`;
  table.body.style.width = `max(100%, ${width})`;
  table.top.style.width = `max(100%, ${width})`;
  table.head.replaceChildren(...shown.map((column, place) => headCell(table, column, place)));
  table.body.replaceChildren();
  table.slots = [];
  measureTable(table);
  if (table.view) {
    markSorting(table);
  }
}

const COLUMN_TERMS = {
  log_odds: "log-odds", probability: "probability", log_bayes_factor: "bayes-factor", least_prior: "least-prior",
  holds_without_one_sample: "fragile",
};

/** Heading of one column, with its button. */
function headCell(/** @type {Table} */ table, /** @type {Column} */ column, place) {
  const cell = document.createElement("div");
  cell.className = `grid-cell ${column.key === "feature" ? "name" : column.kind}`;
  cell.setAttribute("role", "columnheader");
  cell.setAttribute("aria-colindex", String(place + 1));
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.sort = column.key;
  button.textContent = column.kind === "mark" ? "●" : shownName(column.title);
  const term = COLUMN_TERMS[column.key];
  if (term && !column.annotation && document.getElementById(`term-${term}`)) {
    button.dataset.term = term;
    button.setAttribute("aria-describedby", `term-${term}`);
  } else button.title = shownName(column.ofPrior ? `${column.title}: holds for the prior of the report` : column.title);
  if (column.kind === "mark") {
    button.setAttribute("aria-label", column.title);
  }
  button.addEventListener("click", () => sortBy(table, column));
  cell.append(button);
  return cell;
}

/** Sort by a column; a second time the other way round. */
function sortBy(/** @type {Table} */ table, /** @type {Column} */ column) {
  const { state } = table.view;
  const again = activeSort(table, state) === column.key;
  const first = column.kind === "number" && column.key !== "rank" ? true : column.kind === "flag" || column.kind === "mark";
  table.context.store.set({ sort_key: column.key, sort_descending: again ? !state.sort_descending : first });
}

/** Key of the column that sorts the table. */
function activeSort(/** @type {Table} */ table, /** @type {State} */ state) {
  return table.columns.some((column) => column.key === state.sort_key) ? state.sort_key : "rank";
}

/** A column that sorts is shown, even if it was not chosen; ranks are the order without any sorting. */
function showSortColumn(/** @type {Table} */ table) {
  const key = activeSort(table, table.view.state);
  const column = table.columns.find((candidate) => candidate.key === key);
  const box = table.boxes.get(key);
  if (column && box && !column.shown && key !== "rank") {
    column.shown = true;
    box.checked = true;
    layOutColumns(table);
  }
}

/** Tell the headings which one sorts. */
function markSorting(/** @type {Table} */ table) {
  const { state } = table.view;
  const key = activeSort(table, state);
  for (const button of table.head.querySelectorAll("button")) {
    const sorts = button.dataset.sort === key;
    button.parentElement?.setAttribute("aria-sort", sorts ? (state.sort_descending ? "descending" : "ascending") : "none");
  }
}

/** Read how high a row is and how many fit. */
function measureTable(/** @type {Table} */ table) {
  table.rowHeight = Math.round(table.head.getBoundingClientRect().height) || 34;
  table.headHeight = table.top.offsetHeight || table.rowHeight;
  table.inSight = Math.ceil((table.grid.clientHeight || 600) / table.rowHeight) + 2;
  table.body.style.height = `${table.rows.length * table.rowHeight}px`;
}

/** A row to be used for any feature. */
function createSlot(/** @type {Table} */ table) {
  const element = document.createElement("div");
  element.className = "grid-row";
  element.setAttribute("role", "row");
  element.id = `row-${table.slots.length}`;
  const cells = table.shown.map((column, place) => {
    const cell = document.createElement("div");
    cell.className = `grid-cell ${column.key === "feature" ? "name" : column.kind}`;
    cell.setAttribute("role", "gridcell");
    cell.setAttribute("aria-colindex", String(place + 1));
    element.append(cell);
    return cell;
  });
  table.body.append(element);
  return { element, cells, place: -1 };
}

/** Paint the rows in sight. */
function paintRows(/** @type {Table} */ table) {
  if (!table.view) {
    return;
  }
  const first = Math.max(0, Math.floor(table.grid.scrollTop / table.rowHeight) - 1);
  const count = Math.min(table.inSight, Math.max(0, table.rows.length - first));
  while (table.slots.length < count) {
    table.slots.push(createSlot(table));
  }
  turnSlots(table, first);
  const moved = priorMoved(table.view);
  table.slots.forEach((slot, k) => paintSlot(table, slot, first + k, first + k < table.rows.length, moved));
  const slot = table.slots.find((candidate) => candidate.place === table.active);
  if (slot) {
    table.grid.setAttribute("aria-activedescendant", slot.element.id);
  } else {
    table.grid.removeAttribute("aria-activedescendant");
  }
}

/** Move the rows that scrolled out of sight to the other end, in the page too, so that it is read from top to bottom. */
function turnSlots(/** @type {Table} */ table, first) {
  const { slots, body } = table;
  const by = first - table.first;
  table.first = first;
  if (by > 0 && by < slots.length) {
    const gone = slots.splice(0, by);
    slots.push(...gone);
    body.append(...gone.map((slot) => slot.element));
  } else if (by < 0 && -by < slots.length) {
    const gone = slots.splice(by);
    slots.unshift(...gone);
    body.prepend(...gone.map((slot) => slot.element));
  }
}

/** Fill one row with the feature at a place of the table. */
function paintSlot(/** @type {Table} */ table, /** @type {Slot} */ slot, place, exists, moved) {
  const { element } = slot;
  element.hidden = !exists;
  slot.place = exists ? place : -1;
  if (!exists) {
    delete element.dataset.position;
    return;
  }
  const position = table.rows[place];
  element.style.transform = `translateY(${place * table.rowHeight}px)`;
  element.dataset.position = String(position);
  element.setAttribute("aria-rowindex", String(place + 2));
  element.setAttribute("aria-selected", position === table.view.state.feature ? "true" : "false");
  element.classList.toggle("active", place === table.active);
  table.shown.forEach((column, c) => {
    const text = column.kind === "text" ? shownName(column.text(position)) : column.text(position);
    const cell = slot.cells[c];
    if (cell.textContent !== text) {
      cell.textContent = text;
      if (column.kind === "text") {
        cell.title = text;
      } else if (column.kind === "mark") {
        cell.setAttribute("aria-label", text ? column.title : "");
      }
    }
    if (column.ofPrior) {
      cell.classList.toggle("stale", moved);
    }
  });
}
