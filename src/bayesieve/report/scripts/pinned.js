// @ts-check
// A second feature beside the open one, and what both say in numbers.

import { byId } from "./elements.js";
import { leastPrior } from "./least_prior.js";
import { decodedOnce, expit, formatCount, formatNumber, formatProbability, shownName } from "./numbers.js";
import { areaText, directionWords, otherRanks } from "./other_ranks.js";

/** @import { Context, Payload, View } from "./types.js" */

/** Let features be pinned. */
export function createPinned(/** @type {Context} */ context) {
  const { store } = context;
  const button = byId("feature-pin");
  button.addEventListener("click", () => {
    const { feature, pinned } = store.get();
    const open = feature ?? 0;
    store.set({ pinned: pinned === null || pinned !== open ? open : null });
  });
  byId("pinned-close").addEventListener("click", () => { store.set({ pinned: null }); button.focus(); });
  byId("pinned-swap").addEventListener("click", () => {
    const { feature, pinned } = store.get();
    store.set({ feature: pinned, pinned: feature ?? 0 });
  });
  return { update: (view) => updatePinned(context, view) };
}

/** Show both features, or say that another is to be opened. */
function updatePinned(/** @type {Context} */ context, /** @type {View} */ view) {
  const { pinned } = view.state;
  const open = view.state.feature ?? 0;
  const button = byId("feature-pin");
  button.setAttribute("aria-pressed", String(pinned === open));
  byId("pinned").hidden = pinned === null;
  if (pinned === null) return;
  const alone = pinned === open;
  byId("pinned-hint").hidden = !alone;
  byId("pinned-both").hidden = alone;
  if (alone) return;
  const name = (position) => shownName(context.payload.names[position]);
  byId("pinned-name").textContent = name(pinned);
  const rows = featureNumbers(context, view, open);
  const others = new Map(featureNumbers(context, view, pinned));
  const table = /** @type {HTMLTableElement} */ (/** @type {unknown} */ (byId("pinned-table")));
  const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
  const line = (kind, texts) => {
    const row = document.createElement("tr");
    row.append(...texts.map((text, k) => cell(k ? kind : "th", text)));
    return row;
  };
  table.tHead?.replaceChildren(line("th", ["", name(open), name(pinned)]));
  table.tBodies[0].replaceChildren(...rows.map(([title, text]) => line("td", [title, text, others.get(title) ?? ""])));
  byId("pinned-together").textContent = togetherWords(context.payload, open, pinned);
}

/** What is told of a feature: [[title, text], ...]. */
export function featureNumbers(/** @type {Context} */ { payload }, /** @type {View} */ view, position) {
  const odds = view.logOdds[position];
  const rows = [
    ["Rank", formatCount(position + 1)], ["Log-odds", formatNumber(odds, 4)],
    ["Probability", formatProbability(expit(odds), odds)], ["In the list", position < view.solution.size ? "yes" : "no"],
    ["Direction", directionWords(payload, position)], ["AUC", areaText(payload, position)],
    ...otherRanks(payload, position).map(([title, rank]) => [`Rank by ${title}`, rank]),
  ];
  const least = leastPrior(view, position);
  if (least !== null) rows.push(["Listed from prior probability", formatNumber(least, 2)]);
  return /** @type {[string, string][]} */ (rows.filter(([, text]) => text !== ""));
}

/** How far two features go together within classes, in words; empty without their values. */
export function togetherWords(/** @type {Payload} */ { values, classes }, a, b) {
  if (!values || a >= values.n || b >= values.n) return "";
  const [owner, data] = [decodedOnce(values.class), decodedOnce(values.data)];
  const n = owner.length;
  let [xx, yy, xy] = [0, 0, 0];
  classes.forEach((_, k) => {
    const pairs = [];
    for (let s = 0; s < n; s += 1) {
      if (owner[s] === k && Number.isFinite(data[a * n + s]) && Number.isFinite(data[b * n + s])) pairs.push([data[a * n + s], data[b * n + s]]);
    }
    const [mx, my] = [0, 1].map((side) => pairs.reduce((sum, pair) => sum + pair[side], 0) / pairs.length);
    for (const [x, y] of pairs) {
      xx += (x - mx) ** 2;
      yy += (y - my) ** 2;
      xy += (x - mx) * (y - my);
    }
  });
  return xx > 0 && yy > 0 ? `Correlation of the two within classes: ${formatNumber(xy / Math.sqrt(xx * yy), 2)}.` : "";
}
