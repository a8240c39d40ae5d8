// @ts-check
// Principal components of the strongest features, worked out on the page for whatever list there is.

import { decodedOnce } from "./numbers.js";

/** @import { Payload } from "./types.js" */

const AT_ONCE = 4; // vectors iterated together: two are wanted, the others hasten it
const MOST_ROUNDS = 200;
const CLOSE = 1e-11; // relative change of the variances that ends it
const FEWEST_FEATURES = 50; // shown of a list that is too short

/** Features that go into the components of a list of some size. */
export function componentsOf(size, n) {
  return Math.min(size > 1 ? size : FEWEST_FEATURES, n);
}

/** Values of the first n features in standard deviations from their mean, by rows; 0 where missing or constant. */
export function standardisedRows(/** @type {Payload} */ payload, n) {
  const { values } = /** @type {{ values: NonNullable<Payload["values"]> }} */ (payload);
  const [data, width] = [decodedOnce(values.data), decodedOnce(values.class).length];
  const out = new Float64Array(n * width);
  for (let r = 0; r < n; r += 1) {
    let [count, sum] = [0, 0];
    for (let i = r * width; i < (r + 1) * width; i += 1) if (Number.isFinite(data[i])) { count += 1; sum += data[i]; }
    const mean = sum / count;
    let squares = 0;
    for (let i = r * width; i < (r + 1) * width; i += 1) if (Number.isFinite(data[i])) squares += (data[i] - mean) ** 2;
    const spread = Math.sqrt(squares / Math.max(1, count - 1));
    for (let i = r * width; i < (r + 1) * width; i += 1) out[i] = spread > 0 && Number.isFinite(data[i]) ? (data[i] - mean) / spread : 0;
  }
  return out;
}

/**
 * First two principal components of samples (columns) over features (rows) by simultaneous iteration; the largest
 * weight of each is positive. Null if there is nothing to tell.
 */
export function principalComponents(/** @type {Float64Array} */ rows, n, width) {
  if (Math.min(n, width) < 2 || !rows.some((x) => x !== 0)) return null;
  let total = 0;
  for (const x of rows) total += x * x;
  const q = Math.min(AT_ONCE, width);
  let seed = 1; // of a linear congruential generator: the same start always
  const next = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647 - 0.5; };
  let basis = orthonormal(Array.from({ length: q }, () => Float64Array.from({ length: width }, next)));
  let sizes = [0, 0];
  let weights = /** @type {Float64Array[]} */ ([]);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    weights = basis.map((vector) => times(rows, n, width, vector));
    const turned = diagonalised(weights);
    weights = turned.order.map((k) => combine(weights, turned.vectors, k));
    basis = turned.order.map((k) => combine(basis, turned.vectors, k));
    const found = turned.order.map((k) => turned.values[k]);
    const still = [0, 1].every((k) => Math.abs(found[k] - sizes[k]) <= CLOSE * found[0]);
    sizes = found;
    if (still) break;
    basis = orthonormal(weights.map((weight) => timesTransposed(rows, n, width, weight)));
  }
  const parts = [0, 1].map((k) => {
    const most = weights[k].reduce((best, w) => (Math.abs(w) > Math.abs(best) ? w : best), 0);
    const scale = (most < 0 ? -1 : 1) * Math.sqrt(Math.max(0, sizes[k]));
    return basis[k].map((x) => x * scale);
  });
  return { x: parts[0], y: parts[1], share: [sizes[0] / total, sizes[1] / total] };
}

/** Rows times a vector over the samples. */
function times(rows, n, width, vector) {
  const out = new Float64Array(n);
  for (let r = 0, i = 0; r < n; r += 1) {
    let sum = 0;
    for (let s = 0; s < width; s += 1, i += 1) sum += rows[i] * vector[s];
    out[r] = sum;
  }
  return out;
}

/** A vector over the features times rows. */
function timesTransposed(rows, n, width, weight) {
  const out = new Float64Array(width);
  for (let r = 0, i = 0; r < n; r += 1) {
    for (let s = 0; s < width; s += 1, i += 1) out[s] += rows[i] * weight[r];
  }
  return out;
}

/** Inner product. */
function inner(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}

/** Vectors made orthonormal one after the other; those that vanish stay zero. */
function orthonormal(/** @type {Float64Array[]} */ vectors) {
  vectors.forEach((vector, k) => {
    for (let again = 0; again < 2; again += 1) { // once more against rounding
      for (let j = 0; j < k; j += 1) {
        const part = inner(vector, vectors[j]);
        for (let i = 0; i < vector.length; i += 1) vector[i] -= part * vectors[j][i];
      }
    }
    const length = Math.sqrt(inner(vector, vector));
    for (let i = 0; i < vector.length; i += 1) vector[i] = length > 1e-150 ? vector[i] / length : 0;
  });
  return vectors;
}

/** Eigenvectors of the inner products of a few vectors, by Jacobi's rotations, and their order by size. */
function diagonalised(/** @type {Float64Array[]} */ vectors) {
  const q = vectors.length;
  const a = vectors.map((left) => vectors.map((right) => inner(left, right)));
  const turn = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 12; sweep += 1) {
    for (let i = 0; i < q; i += 1) {
      for (let j = i + 1; j < q; j += 1) {
        if (a[i][j] === 0) continue;
        const angle = 0.5 * Math.atan2(2 * a[i][j], a[j][j] - a[i][i]);
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        for (const part of [a, turn]) {
          for (const row of part) [row[i], row[j]] = [c * row[i] - s * row[j], s * row[i] + c * row[j]];
        }
        [a[i], a[j]] = [a[i].map((x, k) => c * x - s * a[j][k]), a[i].map((x, k) => s * x + c * a[j][k])];
      }
    }
  }
  const values = a.map((row, i) => row[i]);
  const order = values.map((_, k) => k).sort((left, right) => values[right] - values[left]);
  return { vectors: turn, values, order };
}

/** A column of a rotation of vectors. */
function combine(/** @type {Float64Array[]} */ vectors, turn, k) {
  const out = new Float64Array(vectors[0].length);
  vectors.forEach((vector, j) => { for (let i = 0; i < out.length; i += 1) out[i] += turn[j][k] * vector[i]; });
  return out;
}
