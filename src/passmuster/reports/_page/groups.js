// Groups of traces (`--group-by`) and estimates from a sample (`--sample`): failing traces with their intervals.

import { el, plural } from "./dom.js";
import { report } from "./data.js";
import { gauge } from "./marks.js";

const MOST_GROUPS = 200;

export function groupTable() {
  const groups = report.groups ?? [];
  if (!groups.length) return null;
  const keys = Object.keys(groups[0].by);
  const rows = groups.slice(0, MOST_GROUPS).map((group) => {
    const names = keys.map((key) => group.by[key] ?? "none");
    return rateRow(names, group.metrics.violation_rate, group.metrics.pass_rate);
  });
  return rateTable(
    `Traces by ${keys.join(" and ")}`,
    [...keys, "Failing", "", "95 % interval", "Pass rate", "n"],
    rows,
    groups.length > MOST_GROUPS ? `… and ${plural(groups.length - MOST_GROUPS, "more group")} in the JSON report.` : "",
  );
}

export function estimateTable() {
  const sample = report.sample;
  if (!sample) return null;
  const rows = Object.entries(sample.tests).map(([id, one]) => rateRow([id], one.violation_rate, null));
  return rateTable(
    `Estimates from a sample of ${percent(sample.share)}`,
    ["Test", "Failing", "", "95 % interval", "", "n"],
    rows,
    `${sample.evaluated} of ${plural(sample.traces, "trace")} were drawn.`,
  );
}

function percent(value) {
  return `${Math.round(value * 10000) / 100}%`;
}

function rateRow(names, rate, passed) {
  const known = rate.value !== null;
  return el(
    "tr",
    null,
    names.map((name) => el("th", { scope: "row" }, name)),
    el("td", { class: "number" }, known ? percent(rate.value) : "–"),
    el(
      "td",
      null,
      known
        ? gauge({
            value: rate.value,
            interval: rate.ci95,
            least: 0,
            most: 1,
            label: `${names.join(", ")}: ${percent(rate.value)} of the traces fail`,
            ok: rate.value === 0,
          })
        : null,
    ),
    el("td", { class: "number" }, rate.ci95 ? rate.ci95.map(percent).join(" to ") : "–"),
    el("td", { class: "number" }, passed ? percent(passed.value) : ""),
    el("td", { class: "number" }, rate.n),
  );
}

function rateTable(title, heads, rows, note) {
  const head = heads.map((name) => el(name ? "th" : "td", name ? { scope: "col" } : null, name));
  return el(
    "section",
    { class: "metric wide" },
    el("h2", null, title),
    el("table", null, el("thead", null, el("tr", null, head)), el("tbody", null, rows)),
    note ? el("p", { class: "hint" }, note) : null,
  );
}
