// Status as shape, word and colour; dots per run; bars with an interval.

import { el, svg } from "./dom.js";

/** Words and shapes by how a case or a gate line ended. */
export const ENDINGS = {
  fail: { word: "Failed", tone: "bad", shape: "square" },
  error: { word: "Error", tone: "bad", shape: "diamond" },
  warning: { word: "Warning", tone: "warn", shape: "triangle" },
  tolerated: { word: "Tolerated", tone: "warn", shape: "ring" },
  never: { word: "Not exercised", tone: "warn", shape: "dash" },
  skip: { word: "Skipped", tone: "dim", shape: "dash" },
  pass: { word: "Passed", tone: "good", shape: "disc" },
};
export const VERDICTS = {
  pass: { word: "PASS", tone: "good", shape: "disc" },
  warn: { word: "PASS with warnings", tone: "warn", shape: "triangle" },
  fail: { word: "FAIL", tone: "bad", shape: "square" },
  error: { word: "ERROR", tone: "bad", shape: "diamond" },
};
export const STATUSES = {
  p: { word: "passed", tone: "good", shape: "disc" },
  w: { word: "passed with a warning", tone: "warn", shape: "triangle" },
  f: { word: "failed", tone: "bad", shape: "square" },
  e: { word: "error", tone: "bad", shape: "diamond" },
  s: { word: "skipped", tone: "dim", shape: "dash" },
  m: { word: "missing", tone: "bad", shape: "ring" },
  n: { word: "not run", tone: "dim", shape: "dash" },
};

const DRAWN = {
  disc: () => [svg("circle", { cx: 8, cy: 8, r: 7 }), svg("path", { class: "cut", d: "M4.8 8.3l2.2 2.2 4.2-4.6" })],
  square: () => [
    svg("rect", { x: 1.5, y: 1.5, width: 13, height: 13, rx: 2 }),
    svg("path", { class: "cut", d: "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" }),
  ],
  diamond: () => [
    svg("path", { d: "M8 .6L15.4 8 8 15.4.6 8z" }),
    svg("path", { class: "cut", d: "M8 4.4v4.4M8 11v.6" }),
  ],
  triangle: () => [svg("path", { d: "M8 1.2l7.2 13H.8z" }), svg("path", { class: "cut", d: "M8 6v4M8 11.9v.5" })],
  ring: () => [svg("circle", { class: "hollow", cx: 8, cy: 8, r: 6 }), svg("path", { class: "line", d: "M5 8h6" })],
  dash: () => [svg("circle", { class: "hollow", cx: 8, cy: 8, r: 6 })],
};

/** A shape; `title` where no word stands beside it. */
export function mark(kind, title) {
  const image = svg(
    "svg",
    { class: `mark ${kind.tone}`, viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": title ? null : "true" },
    DRAWN[kind.shape](),
  );
  if (title) {
    image.setAttribute("role", "img");
    image.setAttribute("aria-label", title);
    image.prepend(svg("title", null, title));
  }
  return image;
}

/** The shape and its word. */
export function badge(kind, more) {
  return el("span", { class: `badge ${kind.tone}` }, mark(kind), el("span", null, kind.word, more ?? ""));
}

const DOT = 10;

/** One dot per run, in the order of the traces: filled where it passed, a square where it did not. */
export function dots(letters, total, most = 24) {
  if (!letters) return el("span", { class: "dim" }, total ? "" : "none");
  const shown = letters.slice(0, most);
  const passed = [...letters].filter((letter) => "pw".includes(letter)).length;
  const label = `${passed} of ${letters.length} runs passed`;
  const image = svg("svg", {
    class: "dots",
    width: shown.length * DOT,
    height: DOT,
    viewBox: `0 0 ${shown.length * DOT} ${DOT}`,
    role: "img",
    "aria-label": label,
  });
  [...shown].forEach((letter, at) => image.append(dot(letter, at * DOT)));
  return el("span", { class: "runs" }, image, letters.length > most ? `+${total - most}` : null);
}

function dot(letter, x) {
  const tone = STATUSES[letter].tone;
  if ("pw".includes(letter)) return svg("circle", { class: tone, cx: x + 4, cy: 5, r: 3.5 });
  if (letter === "s") return svg("circle", { class: `hollow ${tone}`, cx: x + 4, cy: 5, r: 3 });
  return svg("rect", { class: tone, x: x + 0.5, y: 1.5, width: 7, height: 7 });
}

/** How a case ended in earlier runs, oldest first: high is passed, low is not. */
export function trail(letters) {
  if (!letters) return null;
  const step = 6;
  const image = svg("svg", {
    class: "trail",
    width: letters.length * step,
    height: 14,
    viewBox: `0 0 ${letters.length * step} 14`,
    role: "img",
    "aria-label": `earlier runs, oldest first: ${[...letters].map((one) => STATUSES[one]?.word ?? "absent").join(", ")}`,
  });
  [...letters].forEach((letter, at) => {
    if (letter === "-") return;
    const up = "pw".includes(letter);
    image.append(svg("rect", { class: STATUSES[letter].tone, x: at * step, y: up ? 1 : 8, width: 4, height: 5 }));
  });
  return image;
}

/** A bar with the value, its interval and the threshold; `least` and `most` are the ends of the scale. */
export function gauge({ value, interval, bound, least, most, label, ok }) {
  const width = 220;
  const at = (number) => Math.max(0, Math.min(1, (number - least) / (most - least || 1))) * (width - 12) + 6;
  const image = svg("svg", {
    class: "gauge",
    viewBox: `0 0 ${width} 22`,
    width,
    height: 22,
    role: "img",
    "aria-label": label,
  });
  image.append(svg("line", { class: "axis", x1: 6, x2: width - 6, y1: 11, y2: 11 }));
  if (interval) {
    const [from, to] = interval.map(at);
    image.append(svg("rect", { class: "interval", x: from, y: 7, width: Math.max(2, to - from), height: 8, rx: 2 }));
  }
  if (bound !== null && bound !== undefined) {
    image.append(svg("path", { class: "bound", d: `M${at(bound)} 1v20` }));
  }
  if (value !== null && value !== undefined) {
    image.append(
      ok
        ? svg("circle", { class: "good", cx: at(value), cy: 11, r: 4.5 })
        : svg("rect", { class: "bad", x: at(value) - 4, y: 7, width: 8, height: 8 }),
    );
  }
  return image;
}
