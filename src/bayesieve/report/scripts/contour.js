// @ts-check
// The cut as a contour of the effect map: where a feature would have to lie to be listed.

import { decodedOnce } from "./numbers.js";

/** @import { Surface, View } from "./types.js" */

/**
 * Log Bayes factor at which the list is cut now, apart from what the prior ratio adds; null where every feature has
 * a cut of its own or none has any.
 */
export function contourLevel(/** @type {View} */ { solution, evidence, shift }) {
  const cut = solution.cut === Infinity ? 0 : solution.cut; // without a list: where probability is one half
  const level = cut - evidence.priorLogOdds - shift;
  return Number.isFinite(level) ? level : null;
}

/** Log Bayes factor of two Gaussian classes under Jeffreys' prior, without what the means add. */
function jeffreysBase(/** @type {Surface} */ { n = [0, 0], constant = 0 }, y) {
  const second = 1 / (1 + Math.exp(-y));
  const squares = [(n[0] - 1) * 2 * (1 - second), (n[1] - 1) * 2 * second];
  const [all, within] = [n[0] + n[1], squares[0] + squares[1]];
  const parts = n[0] * Math.log(squares[0] / n[0]) + n[1] * Math.log(squares[1] / n[1]);
  return { within, base: constant + 0.5 * (all * Math.log(within / all) - parts) };
}

/** Standardised mean difference at which a feature of a log variance ratio reaches a level; NaN if any does. */
export function contourAt(/** @type {Surface} */ surface, level, y) {
  const [n0, n1] = surface.n ?? [0, 0];
  const { within, base } = jeffreysBase(surface, y);
  const left = level - base;
  return left > 0 ? Math.sqrt((Math.expm1((2 * left) / (n0 + n1)) * (n0 + n1) * within) / (n0 * n1)) : NaN;
}

/**
 * Lines of the contour, [[x, y], ...] each, between two heights.
 * @returns {number[][][]}
 */
export function contourLines(/** @type {Surface} */ surface, level, [low, high], steps = 240) {
  if (surface.kind === "grid") return gridLines(surface, level);
  const lines = /** @type {number[][][]} */ ([]);
  let line = /** @type {number[][]} */ ([]);
  for (let k = 0; k <= steps; k += 1) {
    const y = low + ((high - low) * k) / steps;
    const x = contourAt(surface, level, y);
    if (Number.isFinite(x)) {
      line.push([x, y]);
    } else if (line.length) {
      lines.push(line);
      line = [];
    }
  }
  if (line.length) lines.push(line);
  return lines.flatMap((each) => [each, each.map(([x, y]) => [-x, y])]);
}

/** Segments of the contour of heights on a grid, and their mirror images: both signs of a difference count alike. */
function gridLines(/** @type {Surface} */ surface, level) {
  const [x, y, heights] = [surface.x, surface.y, surface.log_bayes_factor].map(decodedOnce);
  const at = (i, j) => heights[j * x.length + i] - level;
  const segments = /** @type {number[][][]} */ ([]);
  for (let j = 0; j + 1 < y.length; j += 1) {
    for (let i = 0; i + 1 < x.length; i += 1) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const crossed = /** @type {number[][]} */ ([]);
      corners.forEach(([a, b], k) => {
        const [c, d] = corners[(k + 1) % 4];
        const [from, to] = [at(a, b), at(c, d)];
        if (from > 0 === to > 0) return;
        const share = from / (from - to);
        crossed.push([x[a] + share * (x[c] - x[a]), y[b] + share * (y[d] - y[b])]);
      });
      for (let k = 0; k + 1 < crossed.length; k += 2) segments.push([crossed[k], crossed[k + 1]]);
    }
  }
  return segments.flatMap((each) => [each, each.map(([a, b]) => [-a, b])]);
}
