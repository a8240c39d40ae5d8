"use strict";

// The panel of one feature: numbers, words, statistics of the classes, its charts.

/** Make the panel; update(view) shows view.state.feature. */
function createFeaturePanel(context) {
  const { store, payload } = context;
  const panel = { context, element: document.getElementById("feature"), position: -1, cameFrom: null };
  const last = payload.names.length - 1;
  const step = (by) => {
    const next = Math.max(0, Math.min(last, (store.get().feature ?? 0) + by));
    store.set({ feature: next });
  };
  document.getElementById("feature-previous").addEventListener("click", () => step(-1));
  document.getElementById("feature-next").addEventListener("click", () => step(1));
  document.getElementById("feature-close").addEventListener("click", () => closePanel(panel));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && store.get().feature !== null) {
      closePanel(panel);
    }
  });
  const columns = Object.fromEntries(context.columns.map((column) => [column.key, column]));
  return {
    update: (view) => updatePanel(panel, view, columns),
    open: (position) => openPanel(panel, position),
  };
}

/** Open a feature and bring the panel into sight, remembering where the reader came from. */
function openPanel(panel, position) {
  const { store, announce, details } = panel.context;
  if (!panel.element.contains(document.activeElement)) {
    panel.cameFrom = document.activeElement;
  }
  store.set({ feature: position });
  const frame = panel.element.getBoundingClientRect();
  if (frame.top < 0 || frame.top > window.innerHeight * 0.7) {
    panel.element.scrollIntoView({ block: "start" });
    panel.element.focus({ preventScroll: true });
  }
  announce(`${shorten(details.names[position], 80)} is open.`);
}

/** Go back to the strongest feature, and to where the reader came from. */
function closePanel(panel) {
  panel.context.store.set({ feature: null });
  if (panel.cameFrom && panel.cameFrom.isConnected) {
    panel.cameFrom.focus();
  }
  panel.cameFrom = null;
}

/** Fill in the numbers of the feature. */
function updatePanel(panel, view, columns) {
  const { payload, details } = panel.context;
  const position = view.state.feature ?? 0;
  const odds = view.logOdds[position];
  const set = (id, text) => { document.getElementById(id).textContent = text; };
  set("feature-rank", `Rank ${formatCount(position + 1)} of ${formatCount(payload.n_features)}`);
  set("feature-log-odds", formatNumber(odds, 4));
  set("feature-probability", formatProbability(expit(odds), odds));
  set("feature-selected", position < view.solution.size ? "yes" : "no");
  document.getElementById("feature-close").hidden = view.state.feature === null;
  document.getElementById("feature-previous").disabled = position === 0;
  document.getElementById("feature-next").disabled = position >= details.names.length - 1;
  fillNotes(featureNotes(panel.context, columns, position, view));
  if (position !== panel.position) {
    panel.position = position;
    set("feature-name", details.names[position]);
    panel.element.dataset.feature = details.names[position];
    fillStatistics(panel.context, position);
  }
  fillFacts(panel.context, position);
}

/** What there is to say about a feature: [text, whether it is a warning]. */
function featureNotes(context, columns, position, view) {
  const { details } = context;
  const text = (key) => (columns[key] ? columns[key].text(position) : "");
  const notes = [];
  const moved = ["prior", "odds_factor", "ratio"].some((key) => view.state[key] !== view.stored[key]);
  const under = moved ? " (under the prior of the report)" : "";
  if (text("kind")) {
    notes.push([`Most probable kind of difference: ${text("kind").replaceAll("_", " ")}${under}.`, false]);
  }
  if (text("pattern")) {
    const probability = columns.pattern_probability ? `, with probability ${text("pattern_probability")}` : "";
    notes.push([`${text("pattern")}${probability}${under}.`, false]);
    const equal = context.columns.filter((column) => column.key.startsWith("equal_") && column.value(position) >= 0.05);
    if (equal.length) {
      const said = equal.slice(0, 6).map((column) => {
        return `${column.key.slice(6).replace(/[_|]/, " and ")} ${formatProbability(column.value(position))}`;
      });
      notes.push([`Probability of being equal: ${said.join("; ")}${under}.`, false]);
    }
  }
  if (text("without_block") && columns.log_odds_without_a_block) {
    const least = text("log_odds_without_a_block");
    notes.push([`Without ${text("without_block")} the log-odds would be ${least}${under}.`, false]);
  }
  notes.push(...fragilityNotes(details, columns, position, text, under));
  const reason = details.degenerate && details.degenerate_reasons[details.degenerate[position]];
  if (reason) {
    notes.push([`Degenerate: ${reason}.`.replace("..", "."), true]);
  }
  return notes;
}

/** How far the feature hangs on single samples. */
function fragilityNotes(details, columns, position, text, under) {
  if (!columns.least_log_odds || Number.isNaN(columns.least_log_odds.value(position))) {
    return [];
  }
  const culprit = text("culprit");
  const least = `its log-odds fall to ${text("least_log_odds")}${under}`;
  const without = culprit ? `Without sample ${culprit} ${least}` : `With one sample left out ${least}`;
  const fragile = Boolean(details.fragile && details.fragile[position]);
  const removals = columns.n_fragile_removals ? columns.n_fragile_removals.value(position) : 0;
  const plural = removals === 1 ? "" : "s";
  const many = removals > 0 ? `; ${formatCount(removals)} removal${plural} would take it below the cut` : "";
  return [[`${fragile ? "Fragile. " : ""}${without}${many}.`, fragile]];
}

/** Write the notes. */
function fillNotes(notes) {
  document.getElementById("feature-notes").replaceChildren(...notes.map(([text, warns]) => {
    const item = document.createElement("li");
    item.textContent = text;
    item.classList.toggle("warning", warns);
    return item;
  }));
}

/** The table of counts, means and standard deviations. */
function fillStatistics(context, position) {
  const { payload, details } = context;
  const table = document.getElementById("feature-statistics");
  table.parentElement.hidden = !details.statistics;
  if (!details.statistics) {
    return;
  }
  const { count, mean, sd } = details.statistics;
  table.tBodies[0].replaceChildren(...payload.classes.map((label, c) => {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = `var(--class-${c % 8})`;
    name.append(swatch, String(label));
    const n = typeof count[c] === "number" ? count[c] : count[c][position];
    const cells = [formatCount(n), formatNumber(mean[c][position], 4), formatNumber(sd[c][position], 4)];
    row.append(name, ...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    return row;
  }));
}

/** Everything else that is known, annotation first; only while it is unfolded. */
function fillFacts(context, position) {
  const more = document.getElementById("feature-more");
  const list = document.getElementById("feature-facts");
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
    term.textContent = column.title;
    told.textContent = column.text(position);
    pair.append(term, told);
    return pair;
  }));
}
