// Elements made of text and nodes, never of markup, and of no character that hides or reorders others.

import { HIDDEN } from "../engine/hidden.js";

/** @typedef {Node | string | null | undefined | false} Child */

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN = new RegExp(`[${HIDDEN}]`, "gu");

/** @param {Element} made @param {Record<string, string | null>} attributes @param {Child[]} children */
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, value);
  }
  const shown = /** @type {(Node | string)[]} */ (children.filter((child) => child || child === ""));
  made.append(...shown.map((child) => (typeof child === "string" ? child.replace(UNSEEN, " ") : child)));
}

/**
 * An element; attributes that are null and children that are false, null or undefined are left out.
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name @param {Record<string, string | null>} [attributes] @param {...Child} children
 * @returns {HTMLElementTagNameMap[N]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  filled(made, attributes, children);
  return made;
}

/** A shape of a drawing. @param {string} name @param {Record<string, string | null>} [attributes] @param {...Child} children */
export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  filled(made, attributes, children);
  return made;
}

/**
 * The element with an id, which the page has.
 * @template {Element} E
 * @param {string} id @param {new () => E} type @returns {E}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`no ${type.name} #${id}`);
  return found;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Bytes as people say them. @param {number} bytes */
export function sizeText(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let [amount, unit] = [bytes, 0];
  while (amount >= 1000 && unit < units.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}
