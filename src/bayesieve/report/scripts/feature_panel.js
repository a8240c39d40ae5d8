// @ts-check
// The panel of one feature: numbers, words, statistics of the classes, its charts.

import { atStoredCut } from "./columns.js";
import { allOf, byId } from "./elements.js";
import { columnNumber, sampleWords } from "./feature_strip.js";
import { explainedWord } from "./glossary.js";
import {
  decodedOnce, expit, formatApart, formatCompact, formatCount, formatNumber, formatProbability, formatSigned, shorten,
  shownName, SINGLE_DIGITS,
} from "./numbers.js";
import { createPinned, featureNumbers } from "./pinned.js";
import { priorMoved } from "./state.js";

/** @import { Column, Context, Panel, Payload, View } from "./types.js" */

const BESIDE_TERMS = { AUC: "auc", "Listed from prior probability": "least-prior" };

/** Make the panel; update(view) shows view.state.feature. */
export function createFeaturePanel(/** @type {Context} */ context) {
  const { store, payload } = context;
  const panel = { context, element: byId("feature"), position: -1, cameFrom: null, scrolled: 0 };
  const last = payload.names.length - 1;
  const step = (by) => {
    const next = (store.get().feature ?? 0) + by;
    if (next >= 0 && next <= last) {
      store.set({ feature: next });
    }
  };
  byId("feature-previous").addEventListener("click", () => step(-1));
  byId("feature-next").addEventListener("click", () => step(1));
  byId("feature-close").addEventListener("click", () => closePanel(panel));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && store.get().feature !== null && closesPanel(event)) {
      closePanel(panel);
    }
  });
  allOf("#chart-feature h4")[0].textContent = valuesHeading(payload);
  const own = context.columns.filter((column) => !column.annotation);
  const columns = Object.fromEntries(own.map((column) => [column.key, column]));
  const pinned = createPinned(context);
  byId("feature-back").addEventListener("click", () => goBack(panel));
  return {
    update: (view) => { updatePanel(panel, view, columns); pinned.update(view); },
    open: (position) => openPanel(panel, position),
  };
}

/** Heading of the chart of values: distributions are only named where they are drawn. */
function valuesHeading(/** @type {Payload} */ { predictive, values, family }) {
  if (predictive) {
    return values ? "Values and fitted distributions" : "Classes and fitted distributions";
  }
  const counts = ["Poisson", "negative binomial"].includes(family);
  return !values ? "By class" : counts ? "Counts, before exposure" : "Values";
}

/** Whether an Escape is for the panel: pressed in it, on a chart or in the table, and not spent on something else. */
function closesPanel(event) {
  const { target } = event;
  return !event.defaultPrevented && !target.closest("input, select, textarea")
    && Boolean(target.closest("#feature, .chart, #table-grid"));
}

/** Open a feature and bring the panel into sight, remembering where the reader came from. */
function openPanel(/** @type {Panel} */ panel, position) {
  const { store, announce, details } = panel.context;
  const from = /** @type {HTMLElement | null} */ (document.activeElement);
  if (!panel.element.contains(from)) {
    panel.cameFrom = from === document.body ? null : from;
  }
  const back = byId("feature-back");
  back.hidden = !from?.closest("#table-grid");
  panel.scrolled = window.scrollY;
  store.set({ feature: position });
  const frame = panel.element.getBoundingClientRect();
  if (frame.top < 0 || frame.top > window.innerHeight * 0.7) {
    panel.element.scrollIntoView({ block: "start" });
    panel.element.focus({ preventScroll: true });
  }
  announce(`${shorten(shownName(details.names[position]), 80)} is open.`);
}

/** Go back to the row of the table that opened the feature, which stays open. */
function goBack(/** @type {Panel} */ panel) {
  byId("feature-back").hidden = true;
  panel.cameFrom?.focus({ preventScroll: true });
  window.scrollTo({ top: panel.scrolled, behavior: "instant" });
}

/** Go back to the strongest feature; out of the panel also to where the reader came from, else to its top. */
function closePanel(/** @type {Panel} */ panel) {
  const { element, cameFrom } = panel;
  const inside = element.contains(document.activeElement);
  panel.context.store.set({ feature: null });
  panel.cameFrom = null;
  byId("feature-back").hidden = true;
  if (!inside) {
    return;
  }
  if (cameFrom?.isConnected) {
    cameFrom.focus({ preventScroll: true });
    cameFrom.scrollIntoView({ block: "nearest" });
  }
  if (document.activeElement !== cameFrom) {
    element.focus({ preventScroll: true });
  }
}

/** Fill in the numbers of the feature. */
function updatePanel(
  /** @type {Panel} */ panel, /** @type {View} */ view, /** @type {Record<string, Column>} */ columns,
) {
  const { payload, details } = panel.context;
  const position = view.state.feature ?? 0;
  const odds = view.logOdds[position];
  const set = (id, text) => { byId(id).textContent = text; };
  set("feature-rank", `Rank ${formatCount(position + 1)} of ${formatCount(payload.n_features)}`);
  set("feature-log-odds", formatCompact(odds, 4));
  set("feature-probability", formatProbability(expit(odds), odds));
  set("feature-selected", position < view.solution.size ? "yes" : "no");
  fillBeside(featureNumbers(panel.context, view, position));
  byId("feature-close").hidden = view.state.feature === null;
  const ends = { previous: position === 0, next: position >= details.names.length - 1 };
  for (const [name, reached] of Object.entries(ends)) { // a button that is disabled would lose the focus
    byId(`feature-${name}`).setAttribute("aria-disabled", String(reached));
  }
  fillNotes(featureNotes(panel.context, columns, position, view));
  if (position !== panel.position) {
    panel.position = position;
    set("feature-name", shownName(details.names[position]));
    panel.element.dataset.feature = details.names[position];
    fillStatistics(panel.context, position);
  }
  fillFacts(panel.context, position);
}

/** The numbers that do not stand above; their words stay where they are, so that one can be read about. */
function fillBeside(/** @type {[string, string][]} */ numbers) {
  const place = byId("feature-beside");
  const rows = numbers.filter(([title]) => !["Rank", "Log-odds", "Probability", "In the list"].includes(title));
  const titles = rows.map(([title]) => title).join("\n");
  if (place.dataset.titles !== titles) {
    place.dataset.titles = titles;
    place.replaceChildren(...rows.map(([title]) => {
      const pair = document.createElement("div");
      const name = document.createElement("dt");
      name.append(explainedWord(title, BESIDE_TERMS[title] ?? (title.startsWith("Rank by") ? "p-value" : undefined)));
      pair.append(name, document.createElement("dd"));
      return pair;
    }));
  }
  rows.forEach(([, text], k) => { /** @type {HTMLElement} */ (place.children[k].lastChild).textContent = text; });
}

/** What there is to say about a feature: [text, whether it is a warning]. */
function featureNotes(
  /** @type {Context} */ context, /** @type {Record<string, Column>} */ columns, position,
  /** @type {View} */ view,
) {
  const { details, payload } = context;
  const text = (key) => (columns[key] ? shownName(columns[key].text(position)) : "");
  const notes = [];
  const under = priorMoved(view) ? " (under the prior of the report)" : "";
  if (text("kind")) {
    notes.push([`Most probable kind of difference: ${text("kind").replaceAll("_", " ")}${under}.`, false]);
  }
  if (text("pattern")) {
    const chance = columns.pattern_probability ? formatProbability(columns.pattern_probability.value(position)) : "";
    const probability = chance ? `, with probability ${chance}` : "";
    notes.push([`${text("pattern")}${probability}${under}.`, false]);
    const equal = Object.values(columns).filter((column) => column.pair && column.value(position) >= 0.05);
    if (equal.length) {
      const said = equal.slice(0, 6).map((column) => {
        const names = (column.pair ?? []).map((each) => shownName(typeof each === "number" ? payload.classes[each] : each));
        return `${names.join(" and ")} ${formatProbability(column.value(position))}`;
      });
      notes.push([`Probability of being equal: ${said.join("; ")}${under}.`, false]);
    }
  }
  if (text("without_block") && columns.log_odds_without_a_block) {
    const least = text("log_odds_without_a_block");
    notes.push([`Without ${text("without_block")} the log-odds would be ${least}${under}.`, false]);
  }
  if (payload.values && position >= payload.values.n) {
    notes.push([`Its values are not in this page, which holds those of the ${formatCount(payload.values.n)} strongest features.`, false]);
  }
  notes.push(...fragilityNotes(context, columns, position, view));
  const reason = details.degenerate && details.degenerate_reasons[details.degenerate[position]];
  if (reason) {
    notes.push([shownName(`Degenerate: ${reason}.`).replace("..", "."), true]);
  }
  return notes;
}

/** How far the feature hangs on single samples. */
function fragilityNotes(
  /** @type {Context} */ { payload, storedCut, isFragile }, /** @type {Record<string, Column>} */ columns,
  position, /** @type {View} */ view,
) {
  if (!columns.least_log_odds) return atStoredCut(view, storedCut) ? hangingNotes(payload, position) : [];
  const least = columns.least_log_odds.value(position) + view.shift;
  if (!Number.isFinite(least) || (!payload.calibrated && nearlyEqual(least, view.logOdds[position]))) {
    return [];
  }
  const culprit = columns.culprit ? columns.culprit.text(position) : "";
  const would = `its log-odds would be ${formatNumber(least, 4)}`;
  const without = culprit ? `Without ${sampleWords(payload, culprit)} ${would}` : `With one sample left out ${would}`;
  const fragile = Boolean(isFragile?.(position));
  const counted = columns.n_fragile_removals && atStoredCut(view, storedCut); // the number holds at that cut only
  const removals = counted ? columns.n_fragile_removals.value(position) : 0;
  const plural = removals === 1 ? "" : "s";
  const many = removals > 0 ? `; ${formatCount(removals)} removal${plural} would take it below the cut` : "";
  return [[`${fragile ? "Fragile. " : ""}${without}${many}.`, fragile]];
}

/** Whether a feature of the report's list holds without any one sample, as the check of single samples found it. */
function hangingNotes(/** @type {Payload} */ payload, position) {
  const { hanging, values } = payload;
  const culprit = hanging ? decodedOnce(hanging.culprit)[position] ?? -1 : -1;
  if (!hanging || culprit < 0) return [];
  if (!decodedOnce(hanging.fragile)[position]) return [["Holds without any one sample.", false]];
  const name = values?.samples[culprit];
  const sample = name === undefined ? "one sample" : sampleWords(payload, String(name)).replace(/,$/, "");
  return [[`Falls below the cut without ${sample}.`, true]];
}

/** Whether two numbers agree as far as single precision can tell. */
function nearlyEqual(a, b) {
  return a === b || Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** Write the notes. */
function fillNotes(notes) {
  byId("feature-notes").replaceChildren(...notes.map(([text, warns]) => {
    const item = document.createElement("li");
    item.textContent = text;
    item.classList.toggle("warning", warns);
    return item;
  }));
}

/** The table of counts, means and standard deviations. */
function fillStatistics(/** @type {Context} */ context, position) {
  const { payload, details } = context;
  const table = byId("feature-statistics");
  /** @type {HTMLElement} */ (table.parentElement).hidden = !details.statistics;
  if (!details.statistics) {
    return;
  }
  const { count, mean, sd } = details.statistics;
  const most = mean[0] instanceof Float32Array ? SINGLE_DIGITS : 2 * SINGLE_DIGITS;
  const means = formatApart(mean.map((values) => values[position]), 4, most);
  const rows = payload.classes.map((label, c) => {
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = `var(--class-${c % 8})`;
    const n = typeof count[c] === "number" ? count[c] : count[c][position];
    return statisticsRow([swatch, shownName(label)], [formatCount(n), means[c], formatNumber(sd[c][position], 4)]);
  });
  const difference = columnNumber(payload, "mean_difference", position);
  if (means.length === 2 && means[0] === means[1] && difference) { // less than the digits at hand can show
    rows.push(statisticsRow(["difference"], ["", formatSigned(difference, 4), ""]));
  }
  table.tBodies[0].replaceChildren(...rows);
}

/** One row of the table of statistics. */
function statisticsRow(heading, texts) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.append(...heading);
  row.append(name, ...texts.map((text) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    return cell;
  }));
  return row;
}

/** Everything else that is known, annotation first; only while it is unfolded. */
function fillFacts(/** @type {Context} */ context, position) {
  const more = byId("feature-more");
  const list = byId("feature-facts");
  if (!more.dataset.connected) {
    more.dataset.connected = "true";
    more.addEventListener("toggle", () => fillFacts(context, context.store.get().feature ?? 0));
    more.open = context.columns.some((column) => column.annotation);
  }
  if (!more.open) {
    return;
  }
  const columns = context.columns.filter((column) => !column.fixed && !column.told);
  columns.sort((a, b) => Number(Boolean(b.annotation)) - Number(Boolean(a.annotation)));
  list.replaceChildren(...columns.filter((column) => column.text(position) !== "").map((column) => {
    const pair = document.createElement("div");
    const term = document.createElement("dt");
    const told = document.createElement("dd");
    term.textContent = shownName(column.title);
    told.textContent = shownName(column.text(position));
    pair.append(term, told);
    return pair;
  }));
}
