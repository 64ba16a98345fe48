// A trace as a timeline, alone or next to another one, aligned call by call.

import { el, plural, pre } from "./dom.js";

const BRIEF = 110;
const MOST_ALIGNED = 600;
const KINDS = { tool: "tool", llm: "model", handoff: "handoff", message: "message" };

/** A JSON value as text; short ones on one line, long ones to unfold. */
function value(label, given) {
  if (given === undefined || given === null) return null;
  const flat = typeof given === "string" ? given : JSON.stringify(given);
  if (flat.length <= BRIEF && !flat.includes("\n")) {
    return el("div", { class: "value" }, el("span", { class: "label" }, label), el("code", null, flat));
  }
  const whole = typeof given === "string" ? given : JSON.stringify(given, null, 2);
  const opened = el(
    "details",
    { class: "value" },
    el("summary", null, el("span", { class: "label" }, label), el("code", null, `${flat.slice(0, BRIEF)}…`)),
  );
  opened.addEventListener("toggle", () => opened.childElementCount < 2 && opened.append(pre(whole, "whole")), {
    once: true,
  });
  return opened;
}

function figures(step) {
  const parts = [];
  if (step.duration_ms !== undefined) parts.push(`${Math.round(step.duration_ms).toLocaleString("en")} ms`);
  if (step.tokens_in !== undefined || step.tokens_out !== undefined)
    parts.push(`${step.tokens_in ?? "?"} → ${step.tokens_out ?? "?"} tokens`);
  if (step.cost_usd !== undefined) parts.push(`${step.cost_usd.toPrecision(3)} USD`);
  return parts.length ? el("span", { class: "figures number" }, parts.join(" · ")) : null;
}

function stepElement(step, longest, violations, differs) {
  const share = step.duration_ms && longest ? Math.max(0.01, step.duration_ms / longest) : 0;
  const time = el("span", { class: "time", "aria-hidden": "true" });
  time.style.setProperty("--share", share);
  const found = (violations ?? []).map((one) =>
    el(
      "p",
      { class: "offence" },
      el("b", null, one.rule ?? one.constraint ?? one.pattern ?? "violation"),
      " ",
      one.message,
    ),
  );
  const element = el(
    "div",
    {
      class: `step ${step.kind}${violations ? " offending" : ""}${differs ? " differs" : ""}${step.error ? " failed" : ""}`,
    },
    el(
      "div",
      { class: "step-head" },
      el("span", { class: "call number" }, step.call ? String(step.call) : ""),
      el("span", { class: "what" }, KINDS[step.kind] ?? step.kind),
      el("span", { class: "tool" }, step.name ?? ""),
      step.agent ? el("span", { class: "tag" }, step.agent) : null,
      step.group !== undefined ? el("span", { class: "tag" }, `parallel ${step.group}`) : null,
      violations ? el("span", { class: "tag bad" }, "offending call") : null,
      differs ? el("span", { class: "tag" }, differs) : null,
      figures(step),
    ),
    time,
    step.kind === "tool" && step.arguments === undefined
      ? el("p", { class: "hint" }, "arguments not recorded")
      : value("args", step.arguments),
    step.error ? value("error", step.error) : null,
    value("result", step.result),
    step.text ? el("p", { class: "said" }, step.text) : null,
    found,
  );
  element.style.setProperty("--depth", Math.min(6, step.depth ?? 0));
  return element;
}

function missing(violation) {
  return el(
    "div",
    { class: "step tool absent" },
    el(
      "div",
      { class: "step-head" },
      el("span", { class: "call number" }, "–"),
      el("span", { class: "what" }, "missing"),
      el("span", { class: "tool" }, violation.tool ?? ""),
      el("span", { class: "tag bad" }, "expected here"),
    ),
    el("p", { class: "offence" }, violation.message),
  );
}

function longestOf(...traces) {
  return Math.max(0, ...traces.flatMap((trace) => trace.steps.map((step) => step.duration_ms ?? 0)));
}

/** Violations by the call they are about, and those about calls that are not there. */
function byCall(violations) {
  const at = new Map();
  const absent = new Map();
  for (const one of violations) {
    const into = one.kind === "missing" ? absent : at;
    if (one.call_index) into.set(one.call_index, [...(into.get(one.call_index) ?? []), one]);
  }
  return [at, absent];
}

function about(trace) {
  const parts = [
    trace.file ? `${trace.file}${trace.line ? `:${trace.line}` : ""}` : null,
    trace.duration_ms !== undefined ? `${Math.round(trace.duration_ms).toLocaleString("en")} ms` : null,
    trace.tokens !== undefined ? plural(trace.tokens, "token") : null,
    trace.cost_usd !== undefined ? `${trace.cost_usd.toPrecision(3)} USD` : null,
  ];
  return el("p", { class: "hint" }, parts.filter(Boolean).join(" · "));
}

function ending(trace) {
  return [
    trace.left_out
      ? el("p", { class: "hint" }, `${plural(trace.left_out, "more step")} left out to keep the page small.`)
      : null,
    trace.error ? el("p", { class: "offence" }, el("b", null, "The agent failed: "), trace.error) : null,
    trace.answer !== undefined
      ? el("div", { class: "answer" }, el("span", { class: "label" }, "answer"), pre(trace.answer, "whole"))
      : null,
  ];
}

/** One trace, with the calls that violations name marked. */
export function timeline(trace, violations) {
  const longest = longestOf(trace);
  const [at, absent] = byCall(violations);
  const calls = trace.steps.filter((step) => step.call).length;
  const list = trace.steps.flatMap((step) => [
    ...(absent.get(step.call) ?? []).map(missing),
    stepElement(step, longest, at.get(step.call)),
  ]);
  for (const [call, those] of absent) if (call > calls) list.push(...those.map(missing));
  return el(
    "div",
    { class: "timeline" },
    about(trace),
    trace.query !== undefined
      ? el("div", { class: "query" }, el("span", { class: "label" }, "query"), pre(trace.query, "whole"))
      : null,
    el(
      "ol",
      null,
      list.map((one) => el("li", null, one)),
    ),
    trace.steps.length
      ? null
      : el(
          "p",
          { class: "hint" },
          trace.calls_unknown ? "What the agent called was not recorded." : "The agent called nothing.",
        ),
    ending(trace),
  );
}

function key(step) {
  return `${step.kind}:${step.name ?? ""}`;
}

/** Pairs of steps by the longest common subsequence of kinds and names; a step without a partner stands alone. */
export function aligned(left, right) {
  const [n, m] = [left.length, right.length];
  if (n > MOST_ALIGNED || m > MOST_ALIGNED) {
    return Array.from({ length: Math.max(n, m) }, (_, at) => [left[at], right[at]]);
  }
  const length = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      length[i][j] =
        key(left[i]) === key(right[j]) ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < n || j < m) {
    if (i < n && j < m && key(left[i]) === key(right[j])) pairs.push([left[i++], right[j++]]);
    else if (j >= m || (i < n && length[i + 1][j] >= length[i][j + 1])) pairs.push([left[i++], undefined]);
    else pairs.push([undefined, right[j++]]);
  }
  return pairs;
}

function difference(one, other) {
  if (!other) return "only here";
  if (JSON.stringify(one.arguments) !== JSON.stringify(other.arguments)) return "arguments differ";
  if (Boolean(one.error) !== Boolean(other.error)) return one.error ? "failed here" : "failed there";
  return null;
}

/** Two traces side by side. */
export function sideBySide(left, right, violations, names) {
  const longest = longestOf(left, right);
  const [at, absent] = byCall(violations);
  const gone = (call) =>
    (absent.get(call) ?? []).flatMap((each) => [
      el("div", { class: "cell" }, missing(each)),
      el("div", { class: "cell" }),
    ]);
  const calls = left.steps.filter((step) => step.call).length;
  const cells = aligned(left.steps, right.steps).flatMap(([one, other]) => [
    ...(one?.call ? gone(one.call) : []),
    el(
      "div",
      { class: "cell" },
      one
        ? stepElement(one, longest, at.get(one.call), difference(one, other))
        : el("div", { class: "gap" }, "no such step"),
    ),
    el(
      "div",
      { class: "cell" },
      other ? stepElement(other, longest, null, difference(other, one)) : el("div", { class: "gap" }, "no such step"),
    ),
  ]);
  for (const call of absent.keys()) if (call > calls) cells.push(...gone(call));
  return el(
    "div",
    { class: "pair" },
    el("h4", null, names[0]),
    el("h4", null, names[1]),
    el("div", null, about(left)),
    el("div", null, about(right)),
    cells,
    el("div", null, ending(left)),
    el("div", null, ending(right)),
  );
}
