// @ts-check
// Types of what the scripts hand to each other. For the checks only: nothing of it is in the page.

/**
 * An array of the payload: base64 of little-endian numbers.
 * @typedef {{ type: "f8" | "f4" | "i4" | "u2" | "u1", data: string }} Encoded
 *
 * @typedef {Float64Array | Float32Array | Int32Array | Uint16Array | Uint8Array} Numbers
 *
 * A column of the payload: numbers, flags, or texts one by one or as codes of levels.
 * @typedef {{
 *   key: string, title: string, kind: "number" | "flag" | "text", values?: any, codes?: any, levels?: string[],
 *   annotation?: boolean, of_prior?: boolean, class?: number, level?: string, pair?: (number | string)[],
 * }} PayloadColumn
 *
 * The cut as a contour: constants of a formula, or log Bayes factors on a grid.
 * @typedef {{
 *   kind: "jeffreys" | "grid", n?: [number, number], constant?: number, x?: any, y?: any, log_bayes_factor?: any,
 * }} Surface
 *
 * A column about the samples.
 * @typedef {{
 *   title: string, kind: "text" | "number", levels: string[], codes: any, values: any, extent?: [number, number],
 *   first?: number,
 * }} SampleColumn
 *
 * Everything of the sites is there in rank order; differences only for two classes.
 * @typedef {{
 *   n: number, names: string[], counts: number[][], level: number, title: string, combined: any, used: string,
 *   difference: any[] | null, low: any[] | null, high: any[] | null, log_bayes_factor: any[],
 *   pooled: { difference: any, low: any, high: any, log_bayes_factor: any },
 * }} Sites
 *
 * What Python writes into the page, arrays in rank order. Where it says `any`, an array is encoded in the payload
 * and decoded in the details.
 * @typedef {{
 *   schema: number, version: string, title: string, created: string, family: string, calibrated: boolean,
 *   classes: string[], class_counts: number[], paired: boolean, n_features: number, n_detailed: number,
 *   rule: { name: string } & Record<RuleNumber, number>, names: string[],
 *   commands: { cli: string[], python: string[], posterior: string, before?: string },
 *   prior: { log_odds: number | null, probability: number | null }, prior_log_odds: any,
 *   estimated_share: number | null,
 *   ratio: { value: number, power: number } | null, ratio_reason: string,
 *   log_bayes_factor: any,
 *   under_null: { cut: any, log_expected: any, resolution?: number } | null,
 *   degenerate: any, degenerate_reasons: string[], fragile: any, hanging: { culprit: any, fragile: any } | null,
 *   effect: { kind: string, x: any, y: any, x_title: string, y_title: string | null } | null,
 *   statistics: { count: any[], mean: any[], sd: any[] } | null,
 *   columns: PayloadColumn[],
 *   predictive: { n: number, dof: any[], location: any[], scale: any[] } | null,
 *   values: { n: number, class: any, samples: string[], data: any } | null,
 *   composition: { kind: "jeffreys", log_ratio: number, constant: any }
 *     | { kind: "blocks", keys: string[], names: string[] }
 *     | { kind: "terms", names: string[], first: any } | null,
 *   sites: Sites | null,
 *   sample_view: {
 *     sizes: { n: number, samples: any, features: any }[], columns: PayloadColumn[],
 *     components: { n: number, x: any, y: any, share: number[] } | null,
 *   } | null,
 *   surface: Surface | null,
 *   agreement: { key: string, title: string, rank: any, minus_log10_p: any }[],
 *   list?: {
 *     size: number, cut: number | string | null, tied_out: number, claim: Claim | null, was_cut: boolean,
 *     judgement: string[],
 *   },
 *   shuffled?: { n: number, scheme: string, by_feature: boolean, least: number | string, cut: any, counts: any, reached: any } | null,
 * }} Payload
 *
 * The payload with its arrays decoded.
 * @typedef {Payload} Details
 */

/**
 * @typedef {"mnc" | "mr" | "cmnc" | "np" | "fdr" | "fdp"} RuleName
 * @typedef {"threshold" | "n_selected" | "expected_false_positives" | "proportion" | "confidence"} RuleNumber
 *
 * What the reader has chosen. `prior` is null where every feature has its own, and `ratio` where there is none.
 * @typedef {{
 *   rule: RuleName, threshold: number, n_selected: number, expected_false_positives: number, proportion: number,
 *   confidence: number, prior: number | null, odds_factor: number, ratio: number | null, feature: number | null,
 *   search: string, sort_key: string, sort_descending: boolean, filter: string, axes: string, picked: string, heatmap: string,
 *   pinned: number | null,
 * }} State
 *
 * @typedef {RuleNumber | "prior" | "odds_factor" | "ratio"} NumberKey
 *
 * @typedef {{
 *   stored: Readonly<State>, bounds: Partial<Record<NumberKey, number[]>>, get: () => Readonly<State>,
 *   set: (patch: Partial<State>) => void, reset: () => void, isStored: () => boolean,
 *   subscribe: (follow: (state: State, previous: State) => void) => () => void, fragment: () => string,
 * }} Store
 */

/**
 * The numbers of all features under one prior, with running sums over the ranking.
 * @typedef {{
 *   key: string, logOdds: Float64Array, probability: Float64Array, nullProbability: Float64Array,
 *   cumulativeTrue: Float64Array, cumulativeFalse: Float64Array, expectedMarkers: number,
 * }} Weights
 *
 * @typedef {{ cut: Float64Array, logExpected: Float64Array }} NullTable
 *
 * What shuffled labels gave: sorted counts over every cut of a grid, row by row, and in rank order the features that
 * come as far as each one (`reached`), all shuffles together, and the rate of false discoveries without markers.
 * @typedef {{
 *   n: number, least: number, cut: Float64Array, counts: Int32Array, own: Float64Array, reached: Int32Array,
 *   share: Float64Array,
 * }} Shuffled
 * @typedef {{
 *   expected: number, low: number, high: number, step: number, asLong: number, hitRate: number, counts: number[],
 * }} Estimate
 *
 * The list of the run, which may have been shortened, and what it claims about its false positives.
 * @typedef {{ expected: number, low: number, high: number }} Claim
 * @typedef {{ key: string, size: number, cut: number, tiedOut: number, limit?: number, claim: Claim | null }} Kept
 *
 * What the data say; `priors` where every feature has its own prior, else the shared one.
 * @typedef {{
 *   n: number, logBayesFactor: Float64Array, priors: Float64Array | null, priorProbability: number | null,
 *   priorLogOdds: number, ratio: Payload["ratio"], underNull: NullTable | null, stored: Float64Array,
 *   shuffled: Shuffled | null, ofTheRun: Kept | null,
 *   slots: Weights[], lastSolution: Solution | null, lastDistribution: ListDistribution | null,
 *   logOdds: (state: State) => Float64Array, weights: (state: State) => Weights, shift: (state: State) => number,
 * }} Evidence
 *
 * A list and its expected errors.
 * @typedef {{
 *   key: string, size: number, cut: number, threshold: number, expectedTrue: number, expectedFalse: number,
 *   expectedMissed: number, expectedMarkers: number, falseDiscoveryRate: number, tiedOut: number,
 *   underNull: number | null, estimate: Estimate | null, words: string, cumulativeFalse: Float64Array, cumulativeTrue: Float64Array,
 * }} Solution
 *
 * Probabilities of lowest, lowest + 1, ...
 * @typedef {{ lowest: number, pmf: Float64Array }} Distribution
 * @typedef {{ low: number, high: number }} Ends
 * @typedef {Distribution & { key: string, low: number, high: number, hitRate: number }} ListDistribution
 */

/**
 * What all parts of the page are given after every change.
 * @typedef {{
 *   state: Readonly<State>, previous: Readonly<State> | null, stored: Readonly<State>, solution: Solution,
 *   evidence: Evidence, logOdds: Float64Array, ratioPart: number, shift: number, distribution: () => ListDistribution,
 * }} View
 *
 * A column of the table.
 * @typedef {{
 *   key: string, title: string, kind: "number" | "flag" | "text" | "mark", value: (i: number) => any,
 *   text: (i: number) => string, width: number, csv?: (i: number) => string, shown?: boolean, fixed?: boolean,
 *   ranked?: number, told?: boolean, single?: boolean, statistic?: string, annotation?: boolean, ofPrior?: boolean,
 *   live?: boolean, pair?: (number | string)[], levels?: string[], codes?: Numbers,
 * }} Column
 *
 * What all parts of the page share.
 * @typedef {{
 *   payload: Payload, details: Details, evidence: Evidence, store: Store, columns: Column[], storedCut: number, storedSize: number,
 *   isFragile: ((i: number) => boolean) | null, open: (position: number) => void,
 *   describe: (position: number) => string[], announce: (text: string) => void,
 * }} Context
 */

/**
 * @typedef {{
 *   (value: number): number, invert: (pixel: number) => number, domain: [number, number], range: [number, number],
 * }} Scale
 *
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Box
 * @typedef {{ show: (x: number, y: number, lines: string[]) => void, hide: () => void }} Tooltip
 *
 * A canvas that fills its element. Its box and palette are there once it has been measured.
 * @typedef {{
 *   element: HTMLElement, canvas: HTMLCanvasElement, ctx: CanvasRenderingContext2D, tooltip: Tooltip,
 *   width: number, height: number, ratio: number, palette: Record<string, string>, margin: Box,
 *   leftAtLeast: number, label: string, onPaper: boolean, compact: boolean, box: Box,
 *   measure: () => void, begin: () => boolean, describe: (text: string) => void,
 * }} Plot
 *
 * @typedef {{
 *   align?: CanvasTextAlign, baseline?: CanvasTextBaseline, colour?: string, size?: number, bold?: boolean,
 *   halo?: boolean,
 * }} TextStyle
 *
 * @typedef {{ colour?: string, width?: number, dash?: number[] }} LineStyle
 * @typedef {{ ticks: number[], texts?: string[], title?: string, grid?: boolean }} Axis
 * @typedef {{
 *   nearest: (x: number, y: number) => number, locate: (position: number) => [number, number] | null,
 *   mark: (position: number) => void, count: () => number, opened: () => number,
 * }} Features
 *
 * @typedef {{ plot?: Plot, update: (view: View) => void, redraw: () => void }} Drawing
 *
 * A chart; its view is there after the first update, its scales after the first painting.
 * @typedef {{ plot: Plot, context: Context, view: View, x: Scale, y: Scale }} Chart
 *
 * @typedef {Chart & { positions?: number[], positionsFor?: number }} RankedChart
 * @typedef {RankedChart & { marked: number, live: Float64Array | null }} RankChart
 * @typedef {{ from: number, to: number, largest: number, at: (count: number) => number }} SeenDistribution
 * @typedef {Chart & { seen?: SeenDistribution | null }} DistributionChart
 * @typedef {{ low: number, count: number, selected: number }} Bin
 * @typedef {Chart & { bins?: Bin[] }} BinChart
 *
 * @typedef {{ image: HTMLCanvasElement, side: number }} Sprite
 *
 * What the map shows; without `y` the log-odds.
 * @typedef {{
 *   key: string, title: string, x: () => Float32Array, y: (() => Float32Array) | null, xTitle: string, yTitle: string,
 *   ranks: boolean,
 * }} MapAxes
 *
 * The effect map: effects, places in pixels as x, y, x, y, ..., and the layer of grey points.
 * @typedef {{
 *   plot: Plot, context: Context, marked: number, view: View, axes: MapAxes, offered: MapAxes[], bottom: number,
 *   full: { x: [number, number], y: [number, number] }, zoom: { x: [number, number], y: [number, number] } | null,
 *   tool: "move" | "box" | "lasso", overlay: [number, number][] | null,
 *   base: HTMLCanvasElement | null, sprites: Sprite[], plainSprites: Sprite[], shades: string[],
 *   x: Float32Array, y: Float32Array | null,
 *   volcano: Float32Array, degenerate: Uint8Array | null, notes: string, size: number, radius: number,
 *   places: Float32Array, xScale: Scale, yScale: Scale,
 * }} EffectMap
 *
 * Values of features by samples; `rows` are rank positions, `samples` numbers of samples, both in their order.
 * @typedef {{
 *   plot: Plot, context: Context, view: View, columns: SampleColumn[], cell: [number, number] | null,
 *   image: HTMLCanvasElement | null, rows: Numbers, samples: Numbers, scaled: Float32Array, owner: Numbers,
 *   data: Numbers, tracks: number, top: number, wide: number, tall: number, shown: string,
 * }} Heatmap
 *
 * @typedef {{
 *   plot: Plot, context: Context, view: View, columns: SampleColumn[], column: number, n: number, share: number[],
 *   dots: { x: number, y: number, sample: number }[], places: any[] | null, timer: any,
 * }} ComponentsChart
 * @typedef {{
 *   plot: Plot, context: Context, view: View, culprits: Int32Array | null,
 *   bars: { x: number, y: number, height: number, sample: number, count: number }[],
 * }} HangingChart
 *
 * What writes drawing calls down as SVG.
 * @typedef {Record<string, any> & { svg: (title: string) => string }} Recorder
 * @typedef {{ element: HTMLElement, plot: Plot } & Drawing} SavedChart
 *
 * A class in the chart of a feature.
 * @typedef {{
 *   name: string, count: number | null, values: { value: number, sample: number }[] | null, mean: number,
 *   meanText: string, sd: number, density: ((x: number) => number) | null,
 * }} FeatureRow
 *
 * @typedef {{ x: number, y: number, value: number, sample: number, name: string }} Dot
 * @typedef {{ plot: Plot, context: Context, view: View, dots: Dot[], which: (view: View) => number }} FeatureChart
 * @typedef {{
 *   plot: Plot, context: Context, view: View, key: string, wide: Scale, tall: Scale,
 *   lists: { prior: number, size: number, wrong: number }[] | null,
 * }} SensitivityChart
 * @typedef {{ name: string, value: number }} Part
 * @typedef {Part & { from: number, to: number, total: boolean }} WaterfallRow
 *
 * @typedef {{
 *   name: string, counts: number[], size: number, pooled: boolean, difference: number, low: number, high: number,
 *   evidence: number, y: number,
 * }} ForestRow
 * @typedef {{
 *   plot: Plot, context: Context, view: View, rows: ForestRow[], step: number, scale: Scale,
 * }} ForestChart
 */

/**
 * @typedef {{ element: HTMLElement, cells: HTMLElement[], place: number }} Slot
 * @typedef {{
 *   columns: Column[], details: Details, n: number, sorted: Map<string, Uint32Array>, haystack: string[] | null,
 *   missing: string[], last: Uint32Array, lastKey: string,
 * }} Ordering
 * @typedef {{
 *   context: Context, grid: HTMLElement, top: HTMLElement, head: HTMLElement, body: HTMLElement, columns: Column[],
 *   shown: Column[], paint: () => void, rows: Uint32Array, slots: Slot[], first: number, active: number, view: View, rowHeight: number,
 *   headHeight: number, inSight: number, boxes: Map<string, HTMLInputElement>, writing: boolean,
 *   ordering: { rows: (state: State, size: number, cut: number) => Uint32Array, missing: () => string[] },
 * }} Table
 *
 * @typedef {{ place: (value: number) => number, value: (place: number) => number }} Slider
 *
 * A number of the state with its field and, mostly, its slider.
 * @typedef {{
 *   id: string, key: NumberKey, slider: Slider, shown?: (value: number) => number,
 *   taken?: (written: number) => number, help?: (value: number) => string, number: HTMLInputElement,
 *   range: HTMLInputElement | null, helpText: HTMLElement | null,
 * }} Dial
 *
 * @typedef {{ context: Context, element: HTMLElement, position: number, cameFrom: HTMLElement | null, scrolled: number }} Panel
 */

/**
 * The page as a whole; its view is there once it has been refreshed.
 * @typedef {{
 *   payload: Payload, context: Context, store: Store, evidence: Evidence, view: View, distributionCost: number,
 *   distributionTimer: number | null, charts: Record<string, { element: HTMLElement } & Drawing>, table: Drawing,
 *   headline: { update: (view: View) => void, updateDistribution: (view: View) => void, wait: () => void },
 *   controls: { update: (view: View) => void }, budget: { update: (view: View) => void }, sites: { update: (view: View) => void } | null,
 *   panel: { update: (view: View) => void, open: (position: number) => void },
 *   sight: { flush: () => void, update: (name: string) => void },
 * }} Page
 *
 * Elements of the template that are more than an HTMLElement, by their ids.
 * @typedef {{
 *   "table-search": HTMLInputElement, "table-filter": HTMLSelectElement, "table-columns": HTMLDetailsElement,
 *   "feature-statistics": HTMLTableElement, "feature-more": HTMLDetailsElement, "sites-select": HTMLSelectElement,
 *   "sites-table": HTMLTableElement,
 * }} PageElements
 */

export {};
