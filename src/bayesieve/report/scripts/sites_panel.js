"use strict";

// The sites of a cohort: a choice of feature and the table beside the forest plot.

/** Make the section; null without sites. update(view) shows the opened feature or the strongest. */
function createSitesPanel(context) {
  const { sites } = context.details;
  const section = document.getElementById("sites");
  if (!sites || !section) {
    return null;
  }
  const select = document.getElementById("sites-select");
  select.append(...Array.from({ length: sites.n }, (_, i) => {
    const option = document.createElement("option");
    option.value = String(i);
    option.textContent = `${i + 1}. ${shorten(shownName(context.details.names[i]), 60)}`;
    return option;
  }));
  select.addEventListener("change", () => context.store.set({ feature: Number(select.value) }));
  return { update: (view) => updateSites(context, select, view) };
}

/** Fill the table of sites for one feature. */
function updateSites(context, select, view) {
  const { details, payload } = context;
  const { sites } = details;
  const opened = view.state.feature ?? 0;
  const position = opened < sites.n ? opened : 0;
  select.value = String(position);
  document.getElementById("sites-feature").textContent = shownName(details.names[position]);
  const table = document.getElementById("sites-table");
  const head = ["Site", ...payload.classes.map((label) => `n ${label}`), "Log Bayes factor"];
  const rows = sites.names.map((name, s) => {
    return [name, ...sites.counts[s].map(formatCount), formatNumber(sites.log_bayes_factor[s][position], 3)];
  });
  const totals = payload.classes.map((_, c) => formatCount(sites.counts.reduce((sum, counts) => sum + counts[c], 0)));
  const blanks = payload.classes.map(() => "");
  rows.push(["Sum over the sites", ...blanks, formatNumber(sites.combined[position], 3)]);
  rows.push(["All samples as one", ...totals, formatNumber(sites.pooled.log_bayes_factor[position], 3)]);
  table.tHead.replaceChildren(sitesRow(head, "th"));
  table.tBodies[0].replaceChildren(...rows.map((cells) => sitesRow(cells, "td")));
}

/** One row of the table of sites. */
function sitesRow(texts, kind) {
  const row = document.createElement("tr");
  row.append(...texts.map((text, place) => {
    const cell = document.createElement(place ? kind : "th");
    if (cell.tagName === "TH") {
      cell.scope = kind === "th" ? "col" : "row";
    }
    cell.textContent = shownName(text);
    return cell;
  }));
  return row;
}
