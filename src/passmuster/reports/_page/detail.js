// One scenario or one test: why it ended as it did, and the trace that shows it.

import { el, place, plural, pre } from "./dom.js";
import { cases, evidence, report, scenarioAt, testAt, traceAt } from "./data.js";
import { ENDINGS, STATUSES, badge, dots, mark, trail } from "./marks.js";
import { go, link } from "./route.js";
import { sideBySide, timeline } from "./timeline.js";

const VIOLATIONS = 50;
const PASSED = ["pass", "warn"];

function status(one) {
  return STATUSES[one[0]];
}

/** The lines of the suite or policy that something refers to. */
function source(file, line) {
  const known = evidence?.lines?.[file];
  const lines = known ? Object.entries(known).filter(([number]) => Math.abs(number - line) <= 2) : [];
  if (!lines.length) return null;
  return el(
    "pre",
    { class: "source" },
    lines.map(([number, text]) =>
      el(
        "span",
        { class: Number(number) === line ? "here" : null },
        el("i", null, number.padStart(4)),
        `  ${text}`,
        el("br"),
      ),
    ),
  );
}

/** Which call it is, or the place of one that is missing. */
function callPlace(one) {
  if (one.kind === "missing") return `missing at place ${one.call_index}`;
  return `${one.call_index}${one.neighbours ? ` of ${one.neighbours.calls}` : ""}`;
}

export function violation(one, { trace = true, said = "" } = {}) {
  const rows = [
    ["Tool", one.tool],
    ["Argument", one.argument],
    ["Value", "value" in one ? JSON.stringify(one.value) : null],
    ["Rule", one.rule],
    ["Constraint", one.constraint],
    ["Pattern", one.pattern],
    ["Expected", one.expected],
    ["Actual", one.actual],
    ["Call", one.call_index ? callPlace(one) : null],
    ["Calls found", one.calls_found],
    ["Level", one.level === "block" ? null : one.level],
    ["Waived", one.waived],
    ["Suggestion", one.suggestion],
    ["Trace", trace ? [one.trace_id, place(one.trace_file, one.trace_line)].filter(Boolean).join(" · ") : null],
  ];
  return el(
    "div",
    { class: "violation" },
    one.message === said ? null : el("p", { class: "message" }, one.message),
    el(
      "dl",
      null,
      rows
        .filter(([, text]) => text !== null && text !== undefined && text !== "")
        .map(([name, text]) => el("div", null, el("dt", null, name), el("dd", null, String(text)))),
    ),
    one.policy_file
      ? el(
          "div",
          { class: "policy" },
          el("p", { class: "where" }, place(one.policy_file, one.policy_line)),
          source(one.policy_file, one.policy_line),
        )
      : null,
  );
}

function checkElement(check, file) {
  return el(
    "li",
    null,
    el(
      "div",
      { class: "check-head" },
      badge({ ...status(check.status), word: check.status }),
      el("b", null, check.name),
      check.line ? el("span", { class: "where" }, place(file, check.line)) : null,
    ),
    check.message ? el("p", { class: "message" }, check.message) : null,
    edits(check.violations),
    (check.violations ?? [])
      .filter((one) => !one.kind)
      .slice(0, VIOLATIONS)
      .map((one) => violation(one, { trace: false, said: check.message })),
  );
}

/** The edit script of `expected_calls`: what has to be added, removed or changed. */
function edits(violations) {
  const found = (violations ?? []).filter((one) => one.kind);
  if (!found.length) return null;
  const signs = { missing: "+", extra: "−", different: "≠" };
  const text = (one) =>
    [
      one.tool,
      one.argument,
      one.expected !== undefined ? `expected ${one.expected}` : null,
      one.actual !== undefined ? `was ${one.actual}` : null,
    ]
      .filter(Boolean)
      .join(" · ");
  return el(
    "ul",
    { class: "edits" },
    found.map((one) =>
      el(
        "li",
        { class: one.kind },
        el("i", null, signs[one.kind]),
        el("span", { class: "call number" }, one.call_index ?? ""),
        ` ${one.kind}: `,
        text(one),
      ),
    ),
  );
}

function checks(title, list, file) {
  if (!list.length) return null;
  const open = list.filter((check) => check.status !== "pass");
  const held = list.filter((check) => check.status === "pass");
  return el(
    "section",
    null,
    el("h3", null, title),
    open.length
      ? el(
          "ul",
          { class: "checks" },
          open.map((check) => checkElement(check, file)),
        )
      : null,
    held.length
      ? el(
          "details",
          null,
          el("summary", null, `${plural(held.length, "check")} held`),
          el(
            "ul",
            { class: "checks" },
            held.map((check) => checkElement(check, file)),
          ),
        )
      : null,
  );
}

function behaviors(found, file) {
  const named = new Map((found.checks ?? []).map((check) => [check.name, check]));
  const groups = [
    ["Must not, but did", found.violated, "fail"],
    ["Expected, not observed", found.missing, "fail"],
    ["Undecided", found.undecided, "skip"],
    ["Observed", found.observed, "pass"],
  ];
  if (!groups.some(([, names]) => names?.length)) return null;
  const lists = groups
    .filter(([, names]) => names?.length)
    .map(([title, names, kind]) =>
      el(
        "ul",
        { class: "checks" },
        names.map((name) => {
          const check = named.get(name);
          return el(
            "li",
            null,
            el(
              "div",
              { class: "check-head" },
              mark(status(kind)),
              el("span", { class: "kind" }, title),
              el("b", null, name),
            ),
            check?.message ? el("p", { class: "message" }, check.message) : null,
            (check?.violations ?? []).map((one) => violation(one, { trace: false })),
          );
        }),
      ),
    );
  return el("section", null, el("h3", null, "Behaviors"), lists);
}

/** The kept traces of a scenario, by trace id; the baseline's too. */
function kept(id) {
  return (evidence?.traces ?? []).map((one, number) => ({ ...one, number })).filter((one) => one.scenario === id);
}

function keptNote() {
  const left = evidence?.left_out;
  if (!evidence || evidence.viewer)
    return "A stored report has no traces; the page of the run itself does (--report html=PATH).";
  return left
    ? `${plural(left, "trace")} left out: the page keeps the worst first, up to ${evidence.budget}.`
    : "This trace is not in the page.";
}

function runStrip(scenario, kept_, state) {
  if (scenario.runs < 2 && kept_.length < 2) return null;
  const known = new Set(kept_.map((one) => one.trace_id));
  return el(
    "section",
    null,
    el("h3", null, "Runs"),
    el("p", { class: "hint" }, summary(scenario)),
    el(
      "ul",
      { class: "run-list" },
      scenario.attempts
        .slice(0, 200)
        .map((attempt) =>
          el(
            "li",
            null,
            el(
              "a",
              {
                href: link({ scenario: scenario.id, run: attempt.trace_id, view: null }),
                "aria-current": state.run === attempt.trace_id ? "true" : null,
                class: known.has(attempt.trace_id) ? "" : "unkept",
              },
              mark(status(attempt.status), attempt.status),
              " ",
              attempt.trace_id,
            ),
            attempt.message ? el("span", { class: "hint" }, ` ${attempt.message}`) : null,
          ),
        ),
    ),
    (scenario.flips ?? []).map((flip) =>
      el(
        "p",
        { class: "message" },
        el("b", null, `Differs by the ${flip.blame}: `),
        `${flip.passed} passed, ${flip.failed} did not; ${flip.message}.`,
      ),
    ),
  );
}

function summary(scenario) {
  const passed = scenario.attempts.filter((one) => PASSED.includes(one.status)).length;
  const parts = [`${passed} of ${plural(scenario.runs, "run")} passed`];
  const last = (chances) => Object.entries(chances ?? {}).at(-1);
  const at = last(scenario.pass_at_k);
  const all = last(scenario.pass_hat_k);
  if (at && at[0] !== "1")
    parts.push(
      `at least one of ${at[0]} passes: ${Math.round(at[1] * 100)} %`,
      `all of ${all[0]} pass: ${Math.round(all[1] * 100)} %`,
    );
  return `${parts.join("; ")}.`;
}

function traceSection(scenario, state) {
  const all = kept(scenario.id);
  const runs = all.filter((one) => one.role === "run");
  const shown = runs.find((one) => one.trace_id === state.run) ?? (state.run ? null : runs[0]);
  if (!shown)
    return el(
      "section",
      null,
      el("h3", null, "Trace"),
      el("p", { class: "hint" }, keptNote()),
      recorded(scenario.id, null),
    );
  const others = all.filter((one) => one !== shown);
  const wanted = state.with ? others.find((one) => String(one.number) === state.with) : reference(shown, others);
  const name = (one) => `${one.role === "baseline" ? "baseline" : one.status}: ${one.trace_id}`;
  const select = others.length
    ? el(
        "label",
        { class: "compare" },
        el("span", { class: "label" }, "Compare with"),
        el(
          "select",
          {
            id: "compare",
            change: (event) => go({ scenario: scenario.id, run: shown.trace_id, with: event.target.value, view: null }),
          },
          el("option", { value: "none" }, "nothing"),
          others.map((one) => el("option", { value: String(one.number), selected: one === wanted }, name(one))),
        ),
      )
    : null;
  const trace = traceAt(shown.number);
  const violations = violationsOf(scenario, shown.trace_id);
  return el(
    "section",
    { class: "trace" },
    el("h3", null, "Trace ", el("span", { class: "hint" }, shown.trace_id)),
    select,
    wanted
      ? sideBySide(trace, traceAt(wanted.number), violations, [name(shown), name(wanted)])
      : timeline(trace, violations),
    wanted ? null : recorded(scenario.id, trace),
  );
}

/** What a failed run is put next to at first, where there is room: the baseline, else a run that passed. */
function reference(shown, others) {
  if (PASSED.includes(shown.status) || innerWidth < 1000) return null;
  return others.find((one) => one.role === "baseline") ?? others.find((one) => PASSED.includes(one.status));
}

/** The tools that the baseline recorded, where it has no whole trace. */
function recorded(id, trace) {
  const sequences = evidence?.sequences?.[id];
  if (!sequences?.length) return null;
  const now = trace ? trace.steps.filter((step) => step.call).map((step) => step.name) : null;
  return el(
    "div",
    { class: "recorded" },
    el("h4", null, "Calls in the baseline"),
    sequences.slice(0, 3).map((tools) =>
      el(
        "ol",
        { class: "tools" },
        tools.map((tool, at) => el("li", { class: now && now[at] !== tool ? "differs" : null }, tool)),
      ),
    ),
  );
}

/** What the scenario's own checks and the tests found in one trace. */
function violationsOf(scenario, traceId) {
  const own = [
    ...Object.values(scenario.layers).flatMap((layer) => layer.checks),
    ...(scenario.behaviors.checks ?? []),
  ].flatMap((check) => check.violations ?? []);
  const tests = cases.kind.flatMap((kind, row) =>
    kind === "t" && cases.ending[row] !== "pass" ? testAt(cases.number[row]).violations : [],
  );
  return [...own, ...tests].filter((one) => one.trace_id === traceId);
}

export function scenarioDetail(row, state) {
  const scenario = scenarioAt(cases.number[row]);
  const lines = report.gate.filter(
    (line) => line.id === scenario.id && ["scenario", "required", "baseline"].includes(line.kind),
  );
  return el(
    "article",
    { class: "detail", tabindex: -1, id: "detail", "aria-label": `Scenario ${scenario.id}` },
    heading(row, "Scenario", scenario, [
      scenario.category,
      scenario.capability,
      scenario.weight !== 1 ? `weight ${scenario.weight}` : null,
    ]),
    lines.map((line) =>
      el(
        "p",
        { class: "message" },
        line.kind === "scenario" ? "" : el("b", null, `${line.kind}: `),
        line.message,
        line.tolerated_by ? ` (tolerated by ${line.tolerated_by})` : "",
      ),
    ),
    Object.entries(scenario.layers).map(([name, layer]) =>
      checks(name[0].toUpperCase() + name.slice(1), layer.checks, scenario.file),
    ),
    behaviors(scenario.behaviors, scenario.file),
    runStrip(scenario, kept(scenario.id), state),
    traceSection(scenario, state),
  );
}

function heading(row, kind, one, more) {
  const past = evidence?.trails?.[row];
  return el(
    "header",
    null,
    el(
      "p",
      { class: "crumbs" },
      el("a", { href: link({ view: "cases" }), id: "back" }, "← Back to the table"),
      el("span", { class: "where" }, place(one.file, one.line)),
    ),
    el("h2", null, el("span", { class: "kind" }, kind), " ", one.id),
    el(
      "p",
      { class: "under" },
      badge(ENDINGS[cases.ending[row]]),
      more.filter(Boolean).map((text) => el("span", { class: "tag" }, text)),
      cases.dots[row].length > 1 ? dots(cases.dots[row], cases.runs[row], 40) : null,
      past ? el("span", { class: "past" }, "earlier: ", trail(past)) : null,
    ),
  );
}

export function testDetail(row) {
  const test = testAt(cases.number[row]);
  const shown = test.violations.slice(0, VIOLATIONS);
  const traces = new Map((evidence?.traces ?? []).map((one, number) => [one.trace_id, { ...one, number }]));
  const seen = [...new Set(shown.map((one) => one.trace_id))].filter((id) => traces.has(id)).slice(0, 3);
  return el(
    "article",
    { class: "detail", tabindex: -1, id: "detail", "aria-label": `Test ${test.id}` },
    heading(row, "Test", test, [test.metric, test.severity === "block" ? null : `severity ${test.severity}`]),
    el("p", { class: "message" }, cases.reason[row]),
    test.error ? pre(test.error, "whole") : null,
    test.rules.length
      ? el(
          "section",
          null,
          el("h3", null, "Rules"),
          el(
            "ul",
            { class: "checks" },
            test.rules.map((rule) =>
              el(
                "li",
                null,
                el(
                  "div",
                  { class: "check-head" },
                  rule.exercised_on
                    ? badge({ ...status(rule.status), word: rule.status })
                    : badge({ ...ENDINGS.never }),
                  el("b", null, rule.type),
                  el("span", { class: "where" }, place(test.file, rule.line)),
                ),
                el(
                  "p",
                  { class: "hint" },
                  `exercised on ${plural(rule.exercised_on, "trace")}, violated on ${rule.violated_on}`,
                ),
              ),
            ),
          ),
        )
      : null,
    shown.length
      ? el(
          "section",
          null,
          el("h3", null, "Violations"),
          shown.map((one) =>
            el(
              "div",
              null,
              violation(one),
              one.scenario && traces.has(one.trace_id)
                ? el(
                    "p",
                    null,
                    el(
                      "a",
                      { href: link({ scenario: one.scenario, run: one.trace_id, view: null }) },
                      "Show it in its trace",
                    ),
                  )
                : null,
            ),
          ),
        )
      : null,
    test.violation_count > shown.length
      ? el(
          "p",
          { class: "hint" },
          `… and ${plural(test.violation_count - shown.length, "more")}; the JSON report has ${plural(test.violations.length, "violation")}.`,
        )
      : null,
    seen.map((id) =>
      el(
        "section",
        { class: "trace" },
        el("h3", null, "Trace ", el("span", { class: "hint" }, id)),
        timeline(
          traceAt(traces.get(id).number),
          test.violations.filter((one) => one.trace_id === id),
        ),
      ),
    ),
  );
}
