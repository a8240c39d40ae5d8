// @ts-check
// What else is known of a feature: area under the ROC curve, direction in words, ranks by other methods.

import { decodedOnce, formatCount, formatNumber, shownName } from "./numbers.js";
import { columnNumber } from "./feature_strip.js";

/** @import { Payload } from "./types.js" */

/**
 * Probability that a value of the second class lies over one of the first, ties counted half; null if there are no
 * values or other than two classes.
 */
export function areaUnderCurve(/** @type {Payload} */ { values, classes, paired }, position) {
  if (!values || classes.length !== 2 || paired || position >= values.n) return null;
  const [owner, data] = [decodedOnce(values.class), decodedOnce(values.data)];
  const found = [];
  for (let s = 0; s < owner.length; s += 1) {
    const value = data[position * owner.length + s];
    if (Number.isFinite(value)) found.push([value, owner[s]]);
  }
  found.sort((a, b) => a[0] - b[0]);
  let [below, over, wins] = [0, 0, 0];
  for (let from = 0, to = 0; from < found.length; from = to) {
    let [low, high] = [0, 0];
    for (to = from; to < found.length && found[to][0] === found[from][0]; to += 1) {
      if (found[to][1]) high += 1;
      else low += 1;
    }
    wins += high * (below + low / 2);
    below += low;
    over += high;
  }
  return below && over ? wins / (below * over) : null;
}

/** In which class a feature is higher, in words; empty where there is no mean difference. */
export function directionWords(/** @type {Payload} */ payload, position) {
  const { classes, statistics } = payload;
  if (classes.length !== 2) return "";
  let difference = columnNumber(payload, "mean_difference", position);
  if (!Number.isFinite(difference) && statistics) {
    const [first, second] = statistics.mean.map((row) => decodedOnce(row)[position]);
    difference = second - first;
  }
  if (!Number.isFinite(difference) || difference === 0) return "";
  return `higher in ${shownName(classes[difference > 0 ? 1 : 0])}`;
}

/** Ranks by other methods: [[title, rank], ...]. */
export function otherRanks(/** @type {Payload} */ { agreement }, position) {
  return (agreement ?? []).filter(({ rank }) => position < decodedOnce(rank).length)
    .map(({ title, rank }) => [title, formatCount(decodedOnce(rank)[position])]);
}

/** The area under the ROC curve in words. */
export function areaText(/** @type {Payload} */ payload, position) {
  const area = areaUnderCurve(payload, position);
  return area === null ? "" : formatNumber(Math.max(area, 1 - area), 3);
}
