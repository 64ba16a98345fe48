// Move a threshold and see the verdict. Python computed where each line changes; here it is only looked up.

import { el } from "./dom.js";
import { evidence } from "./data.js";
import { VERDICTS, badge } from "./marks.js";

const GRAVITY = ["pass", "warn", "error", "fail"];

const WORDS = { pass: "holds", fail: "does not hold", undecided: "undecided", error: "cannot be decided" };

/** The segment of a line that a bound falls in. */
function segmentAt(line, bound) {
  return line.segments.find((one) => one.upto === null || bound <= one.upto) ?? line.segments.at(-1);
}

/** The verdict for these bounds: the gravest of what every line comes to. */
export function verdictFor(data, bounds) {
  const effects = [data.rest, ...data.lines.map((line, at) => segmentAt(line, bounds[at]).effect)];
  return GRAVITY[Math.max(...effects.map((effect) => GRAVITY.indexOf(effect)))];
}

function inUnits(line, value) {
  const digits = Math.max(0, Math.ceil(-Math.log10(line.step * line.scale) - 1e-9));
  const exact = value === line.value ? Math.max(digits, 6) : digits; // what the suite states may have more digits
  const text = (value * line.scale).toFixed(Math.min(12, exact));
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text}${line.unit}`;
}

export function whatIf() {
  const data = evidence?.what_if;
  if (!data || !data.lines.length)
    return el(
      "p",
      null,
      evidence && !evidence.viewer
        ? "The suite has no threshold that can be moved here."
        : "A page made from a stored report has no thresholds to move.",
    );
  const bounds = data.lines.map((line) => line.value);
  const verdict = el("p", { class: "verdict", id: "whatif-verdict", role: "status" });
  const yaml = el("pre", { class: "whole", id: "whatif-yaml", tabindex: 0, "aria-label": "YAML to copy" });
  const outputs = [];
  const copy = el(
    "button",
    {
      type: "button",
      click: () =>
        navigator.clipboard?.writeText(yaml.textContent).then(
          () => {
            copy.textContent = "Copied";
          },
          () => getSelection().selectAllChildren(yaml),
        ),
    },
    "Copy",
  );

  function refresh() {
    const name = verdictFor(data, bounds);
    verdict.replaceChildren(
      badge(VERDICTS[name]),
      name === data.now ? " (as it is)" : ` instead of ${VERDICTS[data.now].word}`,
    );
    const moved = data.lines.map((line, at) => [line, bounds[at]]).filter(([line, value]) => value !== line.value);
    yaml.textContent = moved.length ? written(moved) : "# Move a threshold to see the YAML for it.";
    copy.textContent = "Copy";
    outputs.forEach((output, at) => output(bounds[at]));
  }

  const rows = data.lines.map((line, at) => {
    const id = `bound-${at}`;
    const out = el("output", { for: id, class: "number" });
    const effect = el("span", { class: "effect" });
    const slider = el("input", {
      id,
      type: "range",
      min: line.least,
      max: line.most,
      step: line.step,
      value: line.value,
      "aria-describedby": `${id}-now`,
      input: (event) => {
        bounds[at] = snapped(line, Number(event.target.value));
        refresh();
      },
    });
    outputs.push((value) => {
      const segment = segmentAt(line, value);
      out.textContent = `${line.operator} ${inUnits(line, value)} ${line.shown_unit}`.trim();
      slider.setAttribute("aria-valuetext", out.textContent);
      effect.replaceChildren(badge({ ...VERDICTS[segment.effect], word: WORDS[segment.status] }));
    });
    return el(
      "li",
      null,
      el("label", { for: id }, line.path.join(".")),
      slider,
      out,
      effect,
      el(
        "p",
        { class: "hint", id: `${id}-now` },
        `Now ${line.operator} ${inUnits(line, line.value)} ${line.shown_unit}; the value is ${line.actual}.`.replace(
          " ;",
          ";",
        ),
      ),
    );
  });
  const reset = el(
    "button",
    {
      type: "button",
      click: () => {
        data.lines.forEach((line, at) => {
          bounds[at] = line.value;
          document.getElementById(`bound-${at}`).value = line.value;
        });
        refresh();
      },
    },
    "Reset",
  );
  refresh();
  return el(
    "div",
    { class: "whatif" },
    el(
      "p",
      { class: "hint" },
      "Each line of the gate was evaluated by passmuster at every point where it changes; moving a threshold looks the answer up.",
    ),
    verdict,
    el("ul", { class: "sliders" }, rows),
    el("p", { class: "buttons" }, reset, copy),
    yaml,
    data.fixed.length ? el("p", { class: "hint" }, `Not movable here: ${data.fixed.join("; ")}.`) : null,
  );
}

/** The bound on the slider's grid; where it was, exactly what the suite says. */
function snapped(line, value) {
  return Math.abs(value - line.value) < line.step / 2
    ? line.value
    : Number((Math.round(value / line.step) * line.step).toPrecision(12));
}

/** The moved bounds as a part of the suite. */
function written(moved) {
  const tree = new Map();
  for (const [line, value] of moved) {
    let at = tree;
    for (const name of line.path.slice(0, -1)) {
      if (!at.has(name)) at.set(name, new Map());
      at = at.get(name);
    }
    at.set(line.path.at(-1), line.template.replace("VALUE", inUnits(line, value)));
  }
  const lines = (map, indent) =>
    [...map].flatMap(([name, inner]) =>
      inner instanceof Map
        ? [`${indent}${quoted(name)}:`, ...lines(inner, `${indent}  `)]
        : [`${indent}${quoted(name)}: ${inner}`],
    );
  return `${lines(tree, "").join("\n")}\n`;
}

function quoted(name) {
  return /^[A-Za-z_][\w]*$/.test(name) ? name : JSON.stringify(name);
}
