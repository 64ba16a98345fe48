// Elements made from text only: nothing that comes from a trace is ever read as markup.

const UNSAFE = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\uffff\\ud800-\\udfff]|[\\u{e0000}-\\u{e0fff}]",
  "gu",
);
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const SVG = "http://www.w3.org/2000/svg";

function escaped(character) {
  return SHORT[character] ?? `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** The text on one line, with controls and marks that reorder text shown as escapes. */
export function readable(text) {
  return String(text).replace(UNSAFE, escaped);
}

/** The same for text of several lines. */
export function readableLines(text) {
  return String(text).replace(UNSAFE, (character) => ("\n\t".includes(character) ? character : escaped(character)));
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : readable(child));
  }
  return element;
}

/** An HTML element. A function among its attributes listens to the event of that name. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A block of text that keeps its lines. */
export function pre(text, name) {
  const element = el("pre", { class: name });
  element.textContent = readableLines(text);
  return element;
}

/** `file:line`, or as much of it as is known. */
export function place(file, line) {
  return file ? (line ? `${file}:${line}` : file) : "";
}

export function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
