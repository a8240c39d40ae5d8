// @ts-check
// The table under pointer and keyboard, and the list that is printed instead of it.

import { byId, oncePerFrame } from "./elements.js";
import { formatCount, shownName } from "./numbers.js";

/** @import { Context, Table, View } from "./types.js" */

/** Scrolling, clicks and keys. */
export function connectGrid(/** @type {Table} */ table) {
  const { grid, body } = table;
  const paint = oncePerFrame(() => table.paint());
  grid.addEventListener("scroll", paint, { passive: true });
  body.addEventListener("click", (event) => {
    const row = /** @type {Element} */ (event.target).closest("[data-position]");
    const slot = table.slots.find(({ element }) => element === row);
    if (slot) {
      table.active = slot.place;
      table.context.open(Number(slot.element.dataset.position));
    }
  });
  grid.addEventListener("keydown", (event) => {
    if (event.target === grid && moveByKey(table, event)) {
      event.preventDefault();
    }
  });
}

/** Answer a key: move the active row or open it; false if the key is not for the table. */
function moveByKey(/** @type {Table} */ table, event) {
  const page = Math.max(1, table.inSight - 4);
  const last = table.rows.length - 1;
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last };
  if (event.altKey || event.ctrlKey || event.metaKey || last < 0) {
    return false;
  }
  if (event.key === "Enter") {
    table.context.open(table.rows[table.active]);
    return true;
  }
  if (!(event.key in steps)) {
    return false;
  }
  table.active = Math.max(0, Math.min(last, table.active + steps[event.key]));
  showRow(table, table.active);
  return true;
}

/** Scroll so that a row is in sight. */
function showRow(/** @type {Table} */ table, place) {
  const { grid, rowHeight, headHeight } = table;
  const top = place * rowHeight;
  const room = grid.clientHeight - headHeight - rowHeight;
  if (top < grid.scrollTop) {
    grid.scrollTop = top;
  } else if (top > grid.scrollTop + room) {
    grid.scrollTop = top - room;
  }
  table.paint();
}

/** For paper: the first 50 features of the list as a plain table. */
export function printList(/** @type {Context} */ context, /** @type {View} */ view) {
  const element = byId("print-list");
  const size = view.solution.size;
  const count = Math.min(size, 50, context.details.names.length);
  const keys = ["rank", "feature", "log_odds", "probability"];
  const others = context.columns.filter((column) => column.shown && !column.fixed && !keys.includes(column.key));
  const first = keys.flatMap((key) => context.columns.find((column) => column.key === key) ?? []);
  const columns = [...first, ...others.slice(0, 4)];
  const table = document.createElement("table");
  table.className = "plain";
  const caption = table.createCaption();
  caption.textContent = size > count
    ? `The first ${formatCount(count)} of ${formatCount(size)} features in the list; the others are left out on paper`
    : `The ${formatCount(size)} features in the list`;
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = shownName(column.title);
    cell.classList.toggle("text", column.kind === "text");
    head.append(cell);
  }
  const body = table.createTBody();
  for (let i = 0; i < count; i += 1) {
    const row = body.insertRow();
    for (const column of columns) {
      const cell = row.insertCell();
      cell.textContent = shownName(column.text(i));
      cell.classList.toggle("text", column.kind === "text");
    }
  }
  element.replaceChildren(table);
}
