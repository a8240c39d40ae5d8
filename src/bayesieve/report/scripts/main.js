// @ts-check
// The page: reads the payload, makes all parts and lets them follow the state.

import { createFalsePositivePlot, createProbabilityPlot } from "./bars.js";
import { createColumns, createFragility, decodeDetails } from "./columns.js";
import { createBudget } from "./budget.js";
import { createCompositionPlot } from "./composition.js";
import { createControls } from "./controls.js";
import { createDiscoveryPlot, createRocPlot } from "./curves.js";
import { createEffectMap } from "./effect_map.js";
import { allOf, byId, oncePerFrame } from "./elements.js";
import { createFeaturePanel } from "./feature_panel.js";
import { createFeaturePlot } from "./feature_plot.js";
import { connectGlossary } from "./glossary.js";
import { createHeadline } from "./headline.js";
import { createHeatmap } from "./heatmap.js";
import { distributionOf } from "./distribution.js";
import {
  expit, formatCount, formatNumber, formatProbability, shorten, shownName, unicodeDigits, UNSEEN_INLINE,
} from "./numbers.js";
import { createRankPlot } from "./rank_plot.js";
import { createEvidence, keepList, ratioPart, solve } from "./rules.js";
import { createComponentsPlot, createHangingPlot } from "./sample_plots.js";
import { connectSaving } from "./saving.js";
import { createSensitivityPlot } from "./sensitivity.js";
import { createSight } from "./sight.js";
import { createForestPlot, createSitesPanel } from "./sites.js";
import { createStore } from "./state.js";
import { createTable } from "./table.js";
import { printList } from "./table_keys.js";

/** @import { Context, Page, Payload, View } from "./types.js" */

const DISTRIBUTION_AT_ONCE = 6; // milliseconds; a slower distribution is drawn a moment later, so that sliders stay light

/** Start the page; what goes wrong is told in words. */
function startPage() {
  const root = document.documentElement;
  root.classList.remove("no-script");
  try {
    const payload = JSON.parse(byId("payload").textContent ?? "");
    showUnseen();
    runPage(payload);
    root.dataset.ready = "true";
  } catch (error) {
    root.classList.add("no-script");
    const place = byId("script-failure");
    place.textContent = `The live part of this page could not be started (${/** @type {Error} */ (error).message}). `
      + "All texts are there; the result table of the screen holds every number.";
    place.hidden = false;
    throw error;
  }
}

/** Write out, in the texts that came with the page, what cannot be seen or turns the direction of reading. */
function showUnseen() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (UNSEEN_INLINE.test(node.data) && !node.parentElement?.closest("script")) {
      const shell = node.parentElement?.id === "command-report"; // quoted words go on behind the sign
      node.data = node.data.replace(new RegExp(UNSEEN_INLINE.source, "g"), (sign) => {
        return shell ? `'$'\\u${unicodeDigits(sign)}''` : shownName(sign);
      });
    }
  }
}

/** Make everything that the payload asks for, and show it. */
function runPage(/** @type {Payload} */ payload) {
  const page = /** @type {Page} */ ({ payload, distributionCost: 0, distributionTimer: null });
  const details = decodeDetails(payload);
  const evidence = createEvidence(payload);
  const store = createStore(payload);
  keepList(evidence, payload, store.stored);
  const context = /** @type {Context} */ ({
    payload, details, evidence, store,
    open: (position) => page.panel.open(position),
    describe: (position) => describeFeature(page, position),
    announce: createAnnouncer(),
  });
  const ofTheReport = solve(evidence, store.stored);
  context.storedCut = ofTheReport.cut;
  context.storedSize = ofTheReport.size;
  context.isFragile = createFragility(payload, details, context.storedCut, () => page.view);
  context.columns = createColumns(payload, details, () => page.view, context.isFragile);
  Object.assign(page, {
    context, store, evidence,
    headline: createHeadline(context),
    controls: createControls(context),
    budget: createBudget(context),
    panel: createFeaturePanel(context),
    sites: createSitesPanel(context),
    table: createTable(context),
    charts: createCharts(context),
  });
  page.sight = createSight(page.charts, () => page.view);
  refreshPage(page);
  store.subscribe(() => refreshPage(page));
  connectWindow(page);
  connectSaving(page);
  connectSections();
  connectGlossary();
  if (store.get().feature !== null) { // a shared link leads to its feature
    byId("feature").scrollIntoView({ block: "start", behavior: "instant" });
  }
}

/** Make the charts whose figures are on the page. */
function createCharts(/** @type {Context} */ context) {
  const makers = {
    effect: createEffectMap, rank: createRankPlot, roc: createRocPlot, discovery: createDiscoveryPlot,
    false: createFalsePositivePlot, probability: createProbabilityPlot, feature: createFeaturePlot,
    composition: createCompositionPlot, forest: createForestPlot, heatmap: createHeatmap,
    components: createComponentsPlot, hanging: createHangingPlot, sensitivity: createSensitivityPlot,
    pinned: (element, given) => createFeaturePlot(element, given, (view) => view.state.pinned ?? 0),
  };
  const charts = {};
  for (const [name, make] of Object.entries(makers)) {
    const element = document.querySelector(`#chart-${name} .plot`);
    if (element) {
      charts[name] = { element, ...make(element, context) };
    }
  }
  return charts;
}

/** The view that all parts are given. */
function viewOf(/** @type {Page} */ page) {
  const state = page.store.get();
  const solution = solve(page.evidence, state);
  let distribution = null;
  return {
    state, solution,
    previous: page.view ? page.view.state : null,
    stored: page.store.stored,
    evidence: page.evidence,
    logOdds: page.evidence.logOdds(state),
    ratioPart: ratioPart(page.evidence, state),
    shift: page.evidence.shift(state),
    distribution: () => {
      distribution = distribution || distributionOf(page.evidence, state, solution);
      return distribution;
    },
  };
}

/** Bring all parts up to the state. */
function refreshPage(/** @type {Page} */ page) {
  const start = performance.now();
  const before = page.view;
  const view = viewOf(page);
  page.view = view;
  const decided = !before || before.solution !== view.solution;
  const opened = !before || before.state.feature !== view.state.feature;
  const pinned = !before || before.state.pinned !== view.state.pinned;
  const looked = before && ["axes", "picked"].some((key) => before.state[key] !== view.state[key]);
  page.controls.update(view);
  if (decided) {
    page.budget.update(view);
    page.headline.update(view);
    updateDistributionSoon(page, view);
  }
  const charts = decided ? ["effect", "rank", "roc", "discovery", "probability", "hanging", "components", "sensitivity"] : opened ? ["effect", "rank"] : looked ? ["effect"] : [];
  if (decided || opened || pinned) {
    page.panel.update(view);
    charts.push("pinned");
  }
  if (decided || opened) {
    charts.push("feature", "composition", "forest", "heatmap");
  }
  if (before && before.state.heatmap !== view.state.heatmap) {
    charts.push("heatmap");
  }
  charts.forEach((name) => page.sight.update(name));
  if (opened && page.sites) {
    page.sites.update(view);
  }
  page.table.update(view);
  byId("page-link").textContent = window.location.href.split("#")[0] + page.store.fragment();
  document.documentElement.dataset.lastUpdate = String(performance.now() - start);
}

/** Work out the distribution of the false positives: at once if that was fast the last time, else after the frame. */
function updateDistributionSoon(/** @type {Page} */ page, /** @type {View} */ view) {
  const run = () => {
    page.distributionTimer = null;
    const start = performance.now();
    const now = page.view;
    page.headline.updateDistribution(now);
    page.sight.update("false");
    page.distributionCost = performance.now() - start;
    document.documentElement.dataset.lastDistribution = String(page.distributionCost);
  };
  if (page.distributionTimer !== null) {
    page.headline.wait();
  } else if (page.distributionCost < DISTRIBUTION_AT_ONCE && view.solution.size < 2000) {
    run();
  } else {
    page.headline.wait();
    page.distributionTimer = setTimeout(run, 30);
  }
}

/** Lines for a tooltip. */
function describeFeature(/** @type {Page} */ page, position) {
  const { view, payload, context } = page;
  const odds = view.logOdds[position];
  const lines = [shownName(context.details.names[position] ?? `Rank ${formatCount(position + 1)}`)];
  const listed = position < view.solution.size ? ", in the list" : "";
  lines.push(`Rank ${formatCount(position + 1)} of ${formatCount(payload.n_features)}${listed}`);
  lines.push(`Log-odds ${formatNumber(odds, 4)}, probability ${formatProbability(expit(odds), odds)}`);
  const shown = context.columns.filter((column) => column.annotation).slice(0, 2);
  for (const column of shown) {
    if (position < context.details.names.length && column.text(position) !== "") {
      lines.push(shownName(`${column.title}: ${shorten(column.text(position), 60)}`));
    }
  }
  return lines;
}

/** A voice for readers who listen: the last thing said counts. */
function createAnnouncer() {
  const place = byId("announcer");
  return (text) => { place.textContent = text; };
}

/** Redraw when the window, the colours or the medium change. */
function connectWindow(/** @type {Page} */ page) {
  const charts = Object.values(page.charts);
  const redrawAll = () => { charts.forEach((chart) => chart.redraw()); page.table.redraw(); };
  /** @type {Map<Element, string>} */
  const sizes = new Map(charts.map((chart) => [chart.element, ""]));
  const observer = new ResizeObserver((entries) => {
    if (document.documentElement.dataset.printing) {
      return;
    }
    for (const { target } of entries) {
      const size = `${target.clientWidth} ${target.clientHeight}`;
      const chart = charts.find((candidate) => candidate.element === target);
      if (chart && sizes.get(target) !== size) {
        sizes.set(target, size);
        chart.redraw();
      }
    }
  });
  charts.forEach((chart) => {
    sizes.set(chart.element, `${chart.element.clientWidth} ${chart.element.clientHeight}`);
    observer.observe(chart.element);
  });
  new ResizeObserver(oncePerFrame(() => page.table.redraw())).observe(byId("table-grid"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  window.addEventListener("beforeprint", () => preparePaper(page, redrawAll));
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset.printing;
    charts.forEach((chart) => { chart.element.style.width = ""; chart.element.style.height = ""; });
    redrawAll();
  });
}

/** Draw everything as it will be on paper: light colours, sizes of the print style, the list as a table. */
function preparePaper(/** @type {Page} */ page, redrawAll) {
  document.documentElement.dataset.printing = "true";
  if (page.distributionTimer !== null) {
    clearTimeout(page.distributionTimer);
    page.distributionTimer = null;
    page.distributionCost = 0;
    page.headline.updateDistribution(page.view);
    page.charts.false.update(page.view);
  }
  page.sight.flush();
  for (const [name, chart] of Object.entries(page.charts)) {
    chart.element.style.width = name === "forest" || name === "heatmap" ? "174mm" : "80mm";
    const heights = { forest: 80, feature: paperHeight(page.payload), heatmap: 190, components: 70, hanging: 70 };
    const height = heights[name] ?? 56;
    chart.element.style.height = `${height}mm`;
    chart.element.style.setProperty("--paper-height", `${height}mm`);
  }
  printList(page.context, page.view);
  redrawAll();
}

/** Height of the chart of a feature on paper, in millimetres: more than two classes need more. */
function paperHeight(/** @type {Payload} */ { classes, values, predictive, statistics }) {
  const rows = values || predictive || statistics ? classes.length : 0;
  return rows > 2 ? Math.min(220, 14 + 24 * rows) : 56;
}

/** Links to sections scroll there and leave the settings in the address alone. */
function connectSections() {
  const links = /** @type {HTMLAnchorElement[]} */ ([...allOf('.topbar a[href^="#"], .skip')]);
  for (const link of links) {
    link.addEventListener("click", (event) => {
      const target = document.getElementById(link.hash.slice(1));
      if (target) {
        event.preventDefault();
        target.scrollIntoView({ block: "start" });
        target.focus({ preventScroll: true });
      }
    });
  }
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = links.find((candidate) => candidate.hash === `#${entry.target.id}`);
      if (link && entry.isIntersecting) {
        links.forEach((other) => other.removeAttribute("aria-current"));
        link.setAttribute("aria-current", "true");
      }
    }
  }, { rootMargin: "-25% 0px -70% 0px" });
  allOf("main > section").forEach((section) => watch.observe(section));
}

startPage();
