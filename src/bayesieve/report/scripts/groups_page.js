// @ts-check
// The page of many groups: in which of them a feature is a marker.

import { byId } from "./elements.js";
import { formatCount, shownName } from "./numbers.js";
import { connectPaste, searchFor } from "./search.js";

const MOST_SHOWN = 200; // lines of an answer

/** Rows of all groups: the name of the feature, its row and its section. */
function groupRows() {
  const found = [];
  for (const section of document.querySelectorAll("section[data-group]")) {
    const heads = [...section.querySelectorAll("thead th")].map((head) => (head.textContent ?? "").trim());
    const [at, rank] = [heads.indexOf("feature"), heads.indexOf("rank")];
    for (const row of section.querySelectorAll("tbody tr")) {
      const told = (place) => row.children[place]?.textContent ?? "";
      found.push({ name: told(at), rank: told(rank), row, section: /** @type {HTMLElement} */ (section) });
    }
  }
  return found;
}

/** Answer searches. */
function startGroups() {
  document.documentElement.classList.remove("no-script");
  const field = /** @type {HTMLInputElement} */ (byId("groups-search"));
  const [list, count] = [byId("groups-found"), byId("groups-count")];
  let rows = /** @type {ReturnType<typeof groupRows> | null} */ (null);
  const answer = () => {
    rows = rows ?? groupRows();
    for (const { row } of rows) row.classList.remove("found");
    const known = rows.map(({ name }) => name);
    const { keep, missing } = searchFor(field.value, known, () => known.map((name) => name.toLowerCase()));
    const found = keep ? rows.filter((_, i) => keep(i)) : [];
    const absent = missing.length ? ` Not among the rows of this page: ${missing.map(shownName).join(", ")}.` : "";
    const more = found.length > MOST_SHOWN ? `, the first ${MOST_SHOWN} of them below` : "";
    count.textContent = keep ? `${formatCount(found.length)} row${found.length === 1 ? "" : "s"} found${more}.${absent}` : "";
    found.forEach(({ row }) => row.classList.add("found"));
    list.replaceChildren(...found.slice(0, MOST_SHOWN).map(groupLine));
  };
  field.addEventListener("input", answer);
  connectPaste(field);
  document.documentElement.dataset.ready = "true";
}

/** One line of an answer, which leads to the group. */
function groupLine({ name, rank, row, section }) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = `#${section.id}`;
  link.textContent = shownName(section.dataset.group ?? "");
  const selected = row.classList.contains("out") ? "not selected" : "a marker";
  line.append(`${shownName(name)}: ${selected}${rank ? `, rank ${rank}` : ""} in group `, link);
  return line;
}

startGroups();
