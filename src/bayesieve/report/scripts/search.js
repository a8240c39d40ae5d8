// @ts-check
// Search of the table: words that all must be there, or a list of names of which any may.

/** Terms of a list that was written or pasted with commas, semicolons, tabs or lines; one entry if it is none. */
export function listTerms(/** @type {string} */ text) {
  return [...new Set(text.split(/[,;\t\r\n]+/).map((term) => term.trim().toLowerCase()).filter(Boolean))];
}

/** Terms as they were written. */
function asWritten(/** @type {string} */ text, /** @type {string[]} */ terms) {
  const written = new Map(text.split(/[,;\t\r\n]+|\s+/).map((each) => [each.trim().toLowerCase(), each.trim()]));
  for (const each of text.split(/[,;\t\r\n]+/)) written.set(each.trim().toLowerCase(), each.trim());
  return terms.map((term) => written.get(term) ?? term);
}

/**
 * What a search finds: the rows (a condition on the rank position; null for all) and the terms that nothing matches.
 * Words between spaces must all be there. Of a list every term finds the features of that name, or with a text that
 * is just it, or else those that hold it. Words that are all names are a list, too.
 */
export function searchFor(/** @type {string} */ text, /** @type {string[]} */ names, /** @type {() => string[]} */ haystack) {
  const { keep, missing } = searchTerms(text, names, haystack);
  return { keep, missing: asWritten(text, missing) };
}

/** The same, with terms in small letters. */
function searchTerms(/** @type {string} */ text, /** @type {string[]} */ names, /** @type {() => string[]} */ haystack) {
  const terms = listTerms(text);
  if (!terms.length) return { keep: null, missing: /** @type {string[]} */ ([]) };
  const words = terms[0].split(/\s+/);
  if (terms.length > 1) return searchList(terms, haystack());
  const hay = haystack();
  const found = new Set();
  hay.forEach((each, i) => { if (words.every((word) => each.includes(word))) found.add(i); });
  if (!found.size && words.length > 1) {
    const known = new Set(names.map((name) => name.toLowerCase()));
    if (words.some((word) => known.has(word))) return searchList([...new Set(words)], hay);
  }
  return { keep: (i) => found.has(i), missing: found.size ? [] : [terms[0]] };
}

/** Rows of any of the terms. */
function searchList(/** @type {string[]} */ terms, /** @type {string[]} */ hay) {
  const places = new Map(terms.map((term) => [term, /** @type {number[]} */ ([])]));
  hay.forEach((each, i) => {
    for (const part of each.split("\n")) places.get(part)?.push(i);
  });
  const found = new Set();
  const missing = /** @type {string[]} */ ([]);
  for (const [term, exact] of places) {
    const rows = exact.length ? exact : hay.flatMap((each, i) => (each.includes(term) ? [i] : []));
    if (!rows.length) missing.push(term);
    for (const i of rows) found.add(i);
  }
  return { keep: (i) => found.has(i), missing };
}

/** A list on the clipboard goes into one line. */
export function connectPaste(/** @type {HTMLInputElement} */ field) {
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\r\n\t]/.test(text.trim())) return;
    event.preventDefault();
    const joined = text.trim().split(/[\r\n\t]+/).map((each) => each.trim()).filter(Boolean).join(", ");
    field.setRangeText(joined, field.selectionStart ?? 0, field.selectionEnd ?? field.value.length, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
