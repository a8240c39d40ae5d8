// @ts-check
// Elements of the page, and work that waits for its next frame.

/** @import { PageElements } from "./types.js" */

/**
 * The element of an id that the template gives to every page.
 * @template {string} Id
 * @param {Id} id
 * @returns {Id extends keyof PageElements ? PageElements[Id] : HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) {
    throw new Error(`the page has no element ${id}`);
  }
  return /** @type {any} */ (element);
}

/**
 * All elements of a selector.
 * @returns {NodeListOf<HTMLElement>}
 */
export function allOf(selector) {
  return document.querySelectorAll(selector);
}

/** Put a value into a field. */
export function followField(/** @type {{ value: string }} */ field, value) {
  if (field.value !== value) {
    field.value = value;
  }
}

/** Run something at most once per frame, however often it is asked for. */
export function oncePerFrame(run) {
  let queued = false;
  return () => {
    if (queued) {
      return;
    }
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      run();
    });
  };
}
