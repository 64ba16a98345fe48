// The top of the page, and the reasons for the verdict with the distance to each threshold.

import { el, place, plural } from "./dom.js";
import { cases, evidence, page, report, rowOf } from "./data.js";
import { ENDINGS, VERDICTS, badge, gauge, mark } from "./marks.js";
import { VIEWS, link } from "./route.js";

const SHOWN = 60;
const GROUPS = [
  ["fail", "Failed", "What blocks."],
  ["error", "Could not be decided", "A part outside the gate failed, such as a judge."],
  ["warning", "Warnings", "Reported; does not block."],
  ["tolerated", "Tolerated failures", "Allowed by a threshold below 100 %, a waiver or optional_scenarios."],
  ["pass", "Passed", ""],
];

export function top() {
  const verdict = VERDICTS[report.verdict];
  const counts = report.traces;
  const scenarios = cases.kind.filter((kind) => kind === "s").length;
  const facts = [
    ["Suite", report.suite_file],
    ["Agent", report.agent_version ? `version ${report.agent_version}` : "version not stated"],
    evidence?.when && [
      "When",
      el("time", { datetime: evidence.when }, evidence.when.replace("T", " ").replace("Z", " UTC")),
    ],
    [
      "Traces",
      `${counts.evaluated.toLocaleString("en")}${evidence?.left_out ? `, ${evidence.left_out.toLocaleString("en")} of them not in this page` : ""}`,
    ],
    scenarios && ["Scenarios", scenarios.toLocaleString("en")],
    cases.id.length - scenarios && ["Tests", (cases.id.length - scenarios).toLocaleString("en")],
    counts.unmatched && ["Unmatched", `${counts.unmatched} without a scenario`],
    page.skipped_runs && ["Not run", page.skipped_runs],
    counts.bad_lines && ["Skipped", plural(counts.bad_lines, "bad line")],
  ];
  return el(
    "header",
    { class: `top ${verdict.tone}` },
    el(
      "p",
      { class: "verdict" },
      mark(verdict),
      el("strong", null, verdict.word),
      report.partial ? el("span", { class: "tag" }, "partial run") : null,
    ),
    el("h1", null, report.suite),
    el("p", { class: "sentence" }, page.sentence.replace(/^[A-Z]+[^:]*: /, "")),
    chooser(),
    changes(),
    el(
      "dl",
      { class: "facts" },
      facts.filter(Boolean).map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))),
    ),
  );
}

/** Which stored run is shown and compared with which; only where `passmuster view` serves the page. */
function chooser() {
  const viewer = evidence?.viewer;
  if (!viewer) return null;
  const go_ = (run, against) => {
    location.href = `?run=${run}&against=${against}${location.hash}`;
  };
  const select = (label, chosen_, change) =>
    el(
      "label",
      null,
      el("span", { class: "label" }, label),
      el(
        "select",
        { "aria-label": label, change: (event) => change(event.target.value) },
        chosen_ === null ? el("option", { value: "", selected: true }, "nothing") : null,
        viewer.runs.map((one) =>
          el("option", { value: String(one.id), selected: one.id === chosen_ }, `${one.label}: ${one.verdict}`),
        ),
      ),
    );
  return el(
    "p",
    { class: "chooser" },
    select("Run", viewer.run, (run) => go_(run, "")),
    select("Compared with", viewer.against, (against) => go_(viewer.run, against)),
  );
}

/** What is different from the last run or the baseline. */
function changes() {
  const changed = evidence?.changes;
  if (!changed) return null;
  const parts = [];
  const cases_ = (names, word) => {
    if (names.length)
      parts.push(
        el(
          "a",
          { href: link({ view: "cases", changed: word }) },
          `${names.length} ${word === "worse" ? "newly failing" : "fixed"}`,
        ),
      );
  };
  cases_(changed.worse, "worse");
  cases_(changed.fixed, "fixed");
  for (const one of changed.metrics.slice(0, 3)) {
    parts.push(el("span", { class: one.tone }, `${one.name} ${one.words}`));
  }
  const list = parts.length ? parts.flatMap((part, at) => (at ? [", ", part] : [part])) : ["nothing changed"];
  return el("p", { class: "changes" }, el("b", null, `Since ${changed.since}: `), list);
}

export function navigation(view) {
  return el(
    "nav",
    { "aria-label": "Parts of the report" },
    Object.entries(VIEWS).map(([name, word]) =>
      el("a", { href: link({ view: name }), "aria-current": name === view ? "page" : null }, word),
    ),
    el(
      "button",
      {
        class: "keys",
        type: "button",
        "aria-label": "Keyboard shortcuts",
        click: () => document.getElementById("help").showModal(),
      },
      "?",
    ),
  );
}

export function why() {
  const groups = new Map(GROUPS.map(([ending]) => [ending, []]));
  for (const at of page.order) groups.get(page.endings[at])?.push(at);
  const parts = GROUPS.filter(([ending]) => groups.get(ending).length).map(([ending, title, words]) => {
    const lines = groups.get(ending);
    const list = el("ul", { class: "lines" }, lines.slice(0, SHOWN).map(gateLine));
    const more =
      lines.length > SHOWN
        ? el(
            "p",
            { class: "more" },
            `… and ${plural(lines.length - SHOWN, "more line")}. `,
            el("a", { href: link({ view: "cases", ending }) }, "All scenarios and tests that ended so"),
          )
        : null;
    const heading = el("h2", null, title, " ", el("span", { class: "count" }, lines.length.toLocaleString("en")));
    if (ending === "pass")
      return el(
        "details",
        { class: "group", open: lines.length === report.gate.length },
        el("summary", null, heading),
        list,
        more,
      );
    return el("section", { class: "group" }, heading, words ? el("p", { class: "hint" }, words) : null, list, more);
  });
  return el("div", { class: "why" }, parts.length ? parts : el("p", null, "The gate has no lines."));
}

function target(line) {
  const scenario =
    ["scenario", "required", "vacuous", "baseline", "input"].includes(line.kind) && rowOf("s", line.id) !== undefined;
  if (scenario) return link({ scenario: line.id, view: null });
  return ["test", "vacuous"].includes(line.kind) && rowOf("t", line.id) !== undefined
    ? link({ test: line.id, view: null })
    : null;
}

function gateLine(at) {
  const line = report.gate[at];
  const ending = page.endings[at];
  const kind = line.status === "undecided" ? { ...ENDINGS[ending], word: "Undecided" } : ENDINGS[ending];
  const href = target(line);
  const name = href ? el("a", { href }, line.id) : el("span", null, line.id);
  return el(
    "li",
    { class: `line ${kind.tone}` },
    el(
      "div",
      { class: "line-head" },
      badge(kind),
      el("span", { class: "kind" }, line.kind),
      el("span", { class: "name" }, name),
      el("span", { class: "where" }, place(line.file, line.line)),
    ),
    el("p", { class: "message" }, line.message),
    line.kind === "test" && page.first[line.id]
      ? el(
          "ul",
          { class: "first" },
          page.first[line.id].map((text) => el("li", null, text)),
        )
      : null,
    bar(line, page.distances[at], ["pass", "undecided"].includes(line.status)),
    line.tolerated_by ? el("p", { class: "hint" }, `Tolerated by ${line.tolerated_by}.`) : null,
  );
}

/** The value, its interval and its threshold on one scale, and the same in words. */
export function bar(line, distance, ok) {
  const bound = line.bound;
  if (!bound || typeof line.actual !== "number") return null;
  const rate = page.metrics[bound.metric]?.rate ?? true;
  const ends = [line.actual, bound.value, ...(bound.interval ?? [])];
  const most = rate ? 1 : Math.max(...ends) * 1.1 || 1;
  const level = bound.confidence ? `${Math.round(bound.confidence * 1000) / 10} %` : "95 %";
  const label = `${line.expected} asked; ${distance ?? ""}${bound.interval ? `; bar: ${level} interval` : ""}`;
  return el(
    "div",
    { class: "bar" },
    gauge({
      value: line.actual,
      interval: bound.interval,
      bound: bound.value,
      least: Math.min(0, ...ends),
      most,
      label,
      ok,
    }),
    el("span", { class: "hint" }, distance),
  );
}
