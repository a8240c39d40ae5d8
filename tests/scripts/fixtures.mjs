// What Python said: the files of make_fixtures.py, in the folder that BAYESIEVE_FIXTURES names.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of fixtures; numbers that JSON does not know are written as {"number": "Infinity"}. */
export function fixture(name) {
  const folder = process.env.BAYESIEVE_FIXTURES;
  assert.ok(folder, "BAYESIEVE_FIXTURES names no folder: run these tests by python -m pytest -m node");
  const revive = (_, part) => (typeof part?.number === "string" ? Number(part.number) : part);
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"), revive);
}

/** Whether two numbers agree, not-a-number and infinities included. */
export function close(found, known, message, { rel = 1e-9, abs = 1e-12 } = {}) {
  const same = Object.is(found, known) || found === known;
  assert.ok(same || Math.abs(found - known) <= Math.max(abs, rel * Math.abs(known)), `${message}: ${found}, not ${known}`);
}
