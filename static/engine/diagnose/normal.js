/** What makes two messages the same fault, told by two ranks. Twin of generator/diagnose/normal.py. */

import { head } from "./characters.js";

const FAMILY_LENGTH = 60;
const NO_LETTER = /[^A-Za-z]+/g;

/** The letters that a message begins with. @param {string} message */
export function familyOf(message) {
  return head(message, 400).replace(NO_LETTER, " ").slice(0, FAMILY_LENGTH);
}
