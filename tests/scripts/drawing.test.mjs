// Places of names as Python finds them, and colours that never pass for grey.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { colourScale, oklchOf, rgbOf } from "../../src/bayesieve/report/scripts/colours.js";
import { placeLabels } from "../../src/bayesieve/report/scripts/label_places.js";
import { close, fixture } from "./fixtures.mjs";

const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

test("names stand where Python puts them", () => {
  for (const { points, widths, height, marks, how, known } of fixture("labels")) {
    const places = placeLabels(points, widths, height, marks, [10, 4, 490, 480], how);
    places.forEach((place, k) => {
      assert.equal(place === null, known[k] === null, `name ${k}`);
      if (!place) return;
      place.box.forEach((edge, i) => close(edge, known[k].box[i], `edge ${i} of name ${k}`, { rel: 1e-9 }));
      assert.equal(place.leader === null, known[k].leader === null, `leader of name ${k}`);
    });
  }
});

test("names cover each other never, and a name is left out rather", () => {
  const counts = fixture("labels").map(({ known }) => known.filter((place) => place).length);
  assert.ok(counts.some((count, k) => count < fixture("labels")[k].known.length));
  for (const { known } of fixture("labels")) {
    const boxes = known.filter((place) => place).map(({ box }) => box);
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b) => {
      assert.ok(a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3]);
    }));
  }
});

test("colours come back from lightness, chroma and hue", () => {
  for (const colour of ["#000000", "#ffffff", "#3d9cc4", "#ffe08a", "#ff0000", "#00ff00", "#0000ff", "#808080"]) {
    assert.deepEqual(rgbOf(oklchOf(parts(colour))), parts(colour));
  }
  const [light, chroma, hue] = oklchOf([255, 0, 0]); // red as CSS Color 4 gives it: 0.628 0.258 29.2
  close(light, 0.62796, "lightness", { abs: 1e-4 });
  close(chroma, 0.25768, "chroma", { abs: 1e-4 });
  close(hue, 29.234, "hue", { abs: 0.01 });
});

test("no shade of a selected feature is the grey of the others, in light and in dark", () => {
  const css = readFileSync(new URL("../../src/bayesieve/report/styles/tokens.css", import.meta.url), "utf8");
  const values = (name) => [...css.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6})`, "g"))].map((found) => found[1]);
  const [low, mid, high] = ["scale-low", "scale-mid", "scale-high"].map(values);
  assert.ok(low.length >= 2);
  low.forEach((grey, k) => {
    const shades = colourScale(parts(mid[k]), parts(high[k]), 24);
    for (const shade of shades) assert.ok(oklchOf(shade)[1] > 3 * oklchOf(parts(grey))[1], `${shade}`);
  });
});
