/** Texts as Python sees them: lengths and orders in code points. */

/** How many code points a text has. @param {string} text */
export function lengthOf(text) {
  let count = text.length;
  for (let i = 1; i < text.length; i += 1) {
    const [before, here] = [text.charCodeAt(i - 1), text.charCodeAt(i)];
    if (here >= 0xdc00 && here <= 0xdfff && before >= 0xd800 && before <= 0xdbff) count -= 1;
  }
  return count;
}

/** The first so many code points. @param {string} text @param {number} count */
export function head(text, count) {
  if (text.length <= count) return text;
  return Array.from(text.slice(0, 2 * count)).slice(0, count).join("");
}

/** The last so many code points. @param {string} text @param {number} count */
export function tail(text, count) {
  if (text.length <= count) return text;
  return Array.from(text.slice(-2 * count)).slice(-count).join("");
}

/** Without these characters at the ends. @param {string} text @param {string} [drop] */
export function stripped(text, drop = " \t") {
  let [from, to] = [0, text.length];
  while (from < to && drop.includes(text[from])) from += 1;
  while (to > from && drop.includes(text[to - 1])) to -= 1;
  return text.slice(from, to);
}

/** Compares by code points; UTF-16 units order otherwise. @param {string} a @param {string} b */
export function compare(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    if (a[i] !== b[i]) return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
  }
  return a.length - b.length;
}

/** Surrogates stand for what comes after all other units. @param {number} unit */
function rank(unit) {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
