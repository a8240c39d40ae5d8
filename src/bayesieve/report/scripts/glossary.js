// @ts-check
// Words of the glossary, explained where they stand: under the pointer, with the keyboard's focus and by touch.

import { byId } from "./elements.js";

const HOVER_PAUSE = 250; // milliseconds before a word under the pointer is explained
const LEAVE_PAUSE = 200; // in which the pointer may go on to the explanation

/** Explain whatever is marked with data-term. */
export function connectGlossary() {
  const tip = byId("tip");
  let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
  let shown = /** @type {HTMLElement | null} */ (null);

  /** Show the explanation of a word, or none. */
  const show = (/** @type {HTMLElement | null} */ word) => {
    clearTimeout(timer);
    shown = word;
    const meaning = word && document.getElementById(`term-${word.dataset.term}`);
    tip.hidden = !meaning;
    if (word && meaning) {
      tip.textContent = meaning.textContent;
      placeTip(tip, word);
    }
  };
  const later = (word, pause) => { clearTimeout(timer); timer = setTimeout(() => show(word), pause); };
  const over = (event) => event.pointerType !== "touch";

  document.addEventListener("pointerover", (event) => {
    const word = wordAt(event.target);
    if (!over(event)) return;
    if (word && word !== shown) later(word, HOVER_PAUSE);
    else if (word || tip.contains(/** @type {Node} */ (event.target))) clearTimeout(timer);
    else if (shown !== document.activeElement) later(null, shown ? LEAVE_PAUSE : 0);
  });
  document.addEventListener("focusin", (event) => {
    const word = wordAt(event.target);
    if (word && /** @type {HTMLElement} */ (event.target).matches(":focus-visible")) show(word);
    else if (shown) show(null);
  });
  document.addEventListener("focusout", () => { if (shown) show(null); });
  document.addEventListener("click", (event) => {
    const word = wordAt(event.target);
    if (word?.matches("a.term")) {
      event.preventDefault(); // the settings stay in the address
      show(word);
    } else if (shown && !word) {
      show(null);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown) return;
    event.stopImmediatePropagation(); // nothing else is closed
    show(null);
  }, { capture: true });
  window.addEventListener("resize", () => show(null));
}

/** A word with its explanation; the plain word where the glossary of this page has none. */
export function explainedWord(text, /** @type {string | undefined} */ key) {
  if (!key || !document.getElementById(`term-${key}`)) return document.createTextNode(text);
  const word = document.createElement("a");
  word.className = "term";
  word.href = `#term-${key}`;
  word.dataset.term = key;
  word.setAttribute("aria-describedby", `term-${key}`);
  word.textContent = text;
  return word;
}

/** The word of the glossary that an element is, or lies in. */
function wordAt(/** @type {EventTarget | null} */ target) {
  return target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("[data-term]")) : null;
}

/** Put the explanation below its word, or over it where there is no room, within the width of the page. */
function placeTip(/** @type {HTMLElement} */ tip, /** @type {HTMLElement} */ word) {
  const frame = word.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  tip.style.left = "0";
  tip.style.top = "0";
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(frame.left, room - width - 8));
  const below = frame.bottom + 6;
  const top = below + height > window.innerHeight && frame.top - height - 6 > 0 ? frame.top - height - 6 : below;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${top + window.scrollY}px`;
}
