// @ts-check

// Where names stand beside points: the steps of bayesieve/report/figures/label_places.py, which explains them.

const REACHES = [5, 12, 20, 30, 42];
const DIRECTIONS = 16;
const NEAR = 9;
const SHORT = 7;
const PAD = 1.5;
const COST = { covered: 14, ambiguous: 16, crossed: 6, tangled: 40, inwards: 5 };
const DEAREST = 70;

/** @typedef {[number, number, number, number]} Box left, low, right, high */
/** @typedef {{ box: Box, leader: [number, number] | null }} LabelPlace */

/**
 * Place names beside points, one after the other; null for a name without room.
 * @param {number[][]} points
 * @param {number[]} widths
 * @param {number} height
 * @param {number[][]} marks
 * @param {Box} frame
 * @param {{ radius?: number, always?: number }} options
 * @returns {(LabelPlace | null)[]}
 */
export function placeLabels(points, widths, height, marks, frame, { radius = 3, always = 0 } = {}) {
  const middle = [(frame[0] + frame[2]) / 2, (frame[1] + frame[3]) / 2];
  /** @type {Box[]} */
  const boxes = [];
  /** @type {Box[]} */
  const leaders = [];
  return widths.map((width, k) => {
    const [x, y] = points[k];
    const others = marks.filter((mark) => Math.hypot(mark[0] - x, mark[1] - y) > 0.01);
    const outwards = Math.atan2(y - middle[1], x - middle[0]);
    /** @type {LabelPlace | null} */
    let best = null;
    let least = k < always ? Number.POSITIVE_INFINITY : DEAREST;
    for (const reach of REACHES) {
      for (let turn = 0; turn < DIRECTIONS; turn += 1) {
        const angle = outwards + (2 * Math.PI * turn) / DIRECTIONS;
        const box = boxAt(x, y, reach, angle, width, height);
        const inside = box[0] >= frame[0] && box[2] <= frame[2] && box[1] >= frame[1] && box[3] <= frame[3];
        if (!inside || boxes.some((other) => meet(wider(box), other))) continue;
        const cost = reach + COST.inwards * (1 - Math.cos(angle - outwards));
        if (cost >= least) continue;
        const { place, extra } = judge(box, x, y, others, boxes, leaders, radius);
        if (cost + extra < least) {
          best = place;
          least = cost + extra;
        }
      }
    }
    if (best) {
      boxes.push(best.box);
      if (best.leader) leaders.push([...best.leader, x, y]);
    }
    return best;
  });
}

/**
 * Box of a name that lies in a direction from a point.
 * @returns {Box}
 */
function boxAt(x, y, reach, angle, width, height) {
  const [across, along] = [Math.cos(angle), Math.sin(angle)];
  const left = x + reach * across - 0.5 * width * (1 - across);
  const low = y + reach * along - 0.5 * height * (1 - along);
  return [left, low, left + width, low + height];
}

/** Whether a name needs a leader, and what its place costs beyond the distance. */
function judge(/** @type {Box} */ box, x, y, others, /** @type {Box[]} */ boxes, /** @type {Box[]} */ leaders, radius) {
  /** @type {[number, number]} */
  const end = [Math.min(Math.max(x, box[0]), box[2]), Math.min(Math.max(y, box[1]), box[3])];
  const own = Math.hypot(end[0] - x, end[1] - y);
  let covered = 0;
  let ambiguous = false;
  for (const [a, b] of others) {
    const apart = Math.hypot(Math.max(box[0] - a, a - box[2], 0), Math.max(box[1] - b, b - box[3], 0));
    if (apart < radius) covered += 1;
    if (apart < own + 0.5) ambiguous = true;
  }
  let extra = COST.covered * covered + COST.tangled * leaders.filter((leader) => crosses(leader, box)).length;
  if (own <= NEAR && !ambiguous) return { place: { box, leader: null }, extra };
  /** @type {Box} */
  const line = [...end, x, y];
  if (own < SHORT) extra += COST.ambiguous;
  extra += COST.crossed * others.filter((mark) => fromSegment(mark, line) < radius).length;
  extra += COST.tangled * boxes.filter((other) => crosses(line, other)).length;
  extra += COST.tangled * leaders.filter((other) => cross(line, other)).length;
  return { place: { box, leader: end }, extra };
}

/**
 * A box with a little room around it.
 * @returns {Box}
 */
function wider(/** @type {Box} */ box) {
  return [box[0] - PAD, box[1] - PAD, box[2] + PAD, box[3] + PAD];
}

/** Whether two boxes overlap. */
function meet(/** @type {Box} */ a, /** @type {Box} */ b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/** Distance of a point from a segment. */
function fromSegment([x, y], /** @type {Box} */ [x0, y0, x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const share = length ? Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / length)) : 0;
  return Math.hypot(x - x0 - share * dx, y - y0 - share * dy);
}

/** Whether two segments cross. */
function cross(/** @type {Box} */ a, /** @type {Box} */ b) {
  const side = (/** @type {Box} */ line, x, y) => (line[2] - line[0]) * (y - line[1]) > (line[3] - line[1]) * (x - line[0]);
  return side(a, b[0], b[1]) !== side(a, b[2], b[3]) && side(b, a[0], a[1]) !== side(b, a[2], a[3]);
}

/** Whether a segment ends in a box or meets one of its diagonals. */
function crosses(/** @type {Box} */ line, /** @type {Box} */ box) {
  const within = [0, 2].some((i) => box[0] < line[i] && line[i] < box[2] && box[1] < line[i + 1] && line[i + 1] < box[3]);
  return within || cross(line, box) || cross(line, [box[0], box[3], box[2], box[1]]);
}
