"use strict";

// The table of all features: only the rows in sight exist, and they are used again while it scrolls.

/** Make the table; update(view) follows the state, redraw() the size. */
function createTable(context) {
  const grid = document.getElementById("table-grid");
  const table = {
    context, grid, head: grid.querySelector(".grid-head .grid-row"), body: grid.querySelector(".grid-body"),
    columns: context.columns, shown: [], rows: new Uint32Array(0), slots: [], first: 0, active: 0, view: null,
    rowHeight: 34, boxes: new Map(), writing: false,
    ordering: createOrdering(context.columns, context.details, context.details.names.length),
  };
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
function updateTable(table, view) {
  const before = table.view && table.view.state;
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
    followField(document.getElementById("table-search"), state.search || "");
  }
  followField(document.getElementById("table-filter"), state.filter);
  paintRows(table);
}

/** Put a value into a field. */
function followField(field, value) {
  if (field.value !== value) {
    field.value = value;
  }
}

/** Say how many rows are shown of how many features. */
function tellCount(table) {
  const { payload, details } = table.context;
  const listed = details.names.length;
  const shown = formatCount(table.rows.length);
  const rest = payload.n_features > listed ? ` The table holds the ${formatCount(listed)} most probable.` : "";
  const text = table.rows.length === listed
    ? `${shown} of ${formatCount(payload.n_features)} features.${rest}`
    : `${shown} of ${formatCount(payload.n_features)} features match.${rest}`;
  document.getElementById("table-count").textContent = text;
}

/** Search, filter and download. */
function connectTools(table) {
  const { store, payload } = table.context;
  const search = document.getElementById("table-search");
  const filter = document.getElementById("table-filter");
  const write = oncePerFrame(() => {
    store.set({ search: search.value });
    table.writing = false;
  });
  search.addEventListener("input", () => { table.writing = true; write(); });
  filter.addEventListener("change", () => store.set({ filter: filter.value }));
  document.getElementById("download-csv").addEventListener("click", () => {
    saveText(tableCsv(table.columns, table.rows), fileNameFrom(payload.title, ".csv"));
    table.context.announce(`${formatCount(table.rows.length)} rows written to ${fileNameFrom(payload.title, ".csv")}.`);
  });
}

/** Boxes to choose the columns by. */
function buildChooser(table) {
  const fieldset = document.querySelector("#table-columns fieldset");
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
    fieldset.append(label);
  }
  const details = document.getElementById("table-columns");
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      details.open = false;
      details.querySelector("summary").focus();
      event.stopPropagation();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    if (!details.contains(event.target)) {
      details.open = false;
    }
  });
}

/** Make the heading of the columns shown and throw away the rows that had others. */
function layOutColumns(table) {
  const shown = table.columns.filter((column) => column.shown);
  table.shown = shown;
  const growth = { text: "1.6fr", mark: "0" };
  const widths = shown.map((column) => `minmax(${column.width}px, ${growth[column.kind] || "1fr"})`);
  table.grid.style.setProperty("--columns", widths.join(" "));
  table.grid.setAttribute("aria-colcount", String(shown.length));
  const edges = 2 * parseFloat(getComputedStyle(table.head).paddingLeft);
  const width = `${shown.reduce((sum, column) => sum + column.width, edges)}px`;
  table.body.style.width = `max(100%, ${width})`;
  table.head.parentElement.style.width = `max(100%, ${width})`;
  table.head.replaceChildren(...shown.map((column, place) => headCell(table, column, place)));
  table.body.replaceChildren();
  table.slots = [];
  measureTable(table);
  if (table.view) {
    markSorting(table);
  }
}

/** Heading of one column, with its button. */
function headCell(table, column, place) {
  const cell = document.createElement("div");
  cell.className = `grid-cell ${column.key === "feature" ? "name" : column.kind}`;
  cell.setAttribute("role", "columnheader");
  cell.setAttribute("aria-colindex", String(place + 1));
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.sort = column.key;
  button.textContent = column.kind === "mark" ? "●" : shownName(column.title);
  button.title = shownName(column.ofPrior ? `${column.title}: holds for the prior of the report` : column.title);
  if (column.kind === "mark") {
    button.setAttribute("aria-label", column.title);
  }
  button.addEventListener("click", () => sortBy(table, column));
  cell.append(button);
  return cell;
}

/** Sort by a column; a second time the other way round. */
function sortBy(table, column) {
  const { state } = table.view;
  const again = activeSort(table, state) === column.key;
  const first = column.kind === "number" && column.key !== "rank" ? true : column.kind === "flag" || column.kind === "mark";
  table.context.store.set({ sort_key: column.key, sort_descending: again ? !state.sort_descending : first });
}

/** Key of the column that sorts the table. */
function activeSort(table, state) {
  return table.columns.some((column) => column.key === state.sort_key) ? state.sort_key : "rank";
}

/** A column that sorts is shown, even if it was not chosen; ranks are the order without any sorting. */
function showSortColumn(table) {
  const key = activeSort(table, table.view.state);
  const column = table.columns.find((candidate) => candidate.key === key);
  if (!column.shown && key !== "rank") {
    column.shown = true;
    table.boxes.get(key).checked = true;
    layOutColumns(table);
  }
}

/** Tell the headings which one sorts. */
function markSorting(table) {
  const { state } = table.view;
  const key = activeSort(table, state);
  for (const button of table.head.querySelectorAll("button")) {
    const sorts = button.dataset.sort === key;
    button.parentElement.setAttribute("aria-sort", sorts ? (state.sort_descending ? "descending" : "ascending") : "none");
  }
}

/** Read how high a row is and how many fit. */
function measureTable(table) {
  table.rowHeight = Math.round(table.head.getBoundingClientRect().height) || 34;
  table.headHeight = table.head.parentElement.offsetHeight || table.rowHeight;
  table.inSight = Math.ceil((table.grid.clientHeight || 600) / table.rowHeight) + 2;
  table.body.style.height = `${table.rows.length * table.rowHeight}px`;
}

/** A row to be used for any feature. */
function createSlot(table) {
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
function paintRows(table) {
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
function turnSlots(table, first) {
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
function paintSlot(table, slot, place, exists, moved) {
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
