// Puts the parts together; keyboard and print.

import { el, plural } from "./dom.js";
import { cases, report, rowOf } from "./data.js";
import { navigation, top, why } from "./gate.js";
import { current, go, link, onChange } from "./route.js";
import { scenarioDetail, testDetail } from "./detail.js";
import { filterOf, table } from "./table.js";
import { metrics } from "./metrics.js";
import { whatIf } from "./whatif.js";
import { ENDINGS, badge } from "./marks.js";

const SHORTCUTS = [
  ["/", "search"],
  ["↑ ↓, j k", "move in the table"],
  ["Enter", "open"],
  ["Esc", "back to the table"],
  ["1 to 4", "parts of the report"],
  ["?", "this list"],
];
const MOST_PRINTED = 500;

const root = document.getElementById("page");
const nav = el("div", { class: "nav" });
const main = el("main", { id: "main" });
const help = el(
  "dialog",
  { id: "help", "aria-labelledby": "help-title" },
  el("h2", { id: "help-title" }, "Keyboard"),
  el(
    "dl",
    null,
    SHORTCUTS.map(([key, does]) => el("div", null, el("dt", null, el("kbd", null, key)), el("dd", null, does))),
  ),
  el("form", { method: "dialog" }, el("button", null, "Close")),
);
let list = null;

function detailOf(state) {
  if (!state.scenario && !state.test) return null;
  const [kind, id] = state.scenario ? ["s", state.scenario] : ["t", state.test];
  const row = rowOf(kind, id);
  if (row === undefined)
    return el(
      "article",
      { class: "detail", id: "detail", tabindex: -1 },
      el("p", null, el("a", { href: link({ view: "cases" }) }, "← Back to the table")),
      el("p", null, `The report has no ${kind === "s" ? "scenario" : "test"} ${id}.`),
    );
  return kind === "s" ? scenarioDetail(row, state) : testDetail(row);
}

function caseOf(state) {
  return JSON.stringify([state.scenario, state.test, state.run, state.with]);
}

function show(state, before) {
  nav.replaceChildren(navigation(state.view));
  root.dataset.view = state.view;
  if (state.view !== "cases") {
    list = null;
    main.replaceChildren({ why, metrics, whatif: whatIf }[state.view]());
    return;
  }
  const detail = detailOf(state);
  if (!list) {
    list = table(state);
    main.replaceChildren(list.element);
  } else if (filterOf(state) !== filterOf(before)) list.refresh();
  if (before && caseOf(state) === caseOf(before) && before.view === "cases") return; // only the filters changed
  main.querySelector(".detail")?.remove();
  main.classList.toggle("opened", Boolean(detail));
  if (detail) {
    main.append(detail);
    if (before) detail.focus({ preventScroll: true });
    detail.scrollTop = 0;
    if (innerWidth < 1000) scrollTo(0, nav.offsetTop);
  } else if (before && (before.scenario || before.test)) list.focus();
}

/** On paper there are no virtual rows: what did not pass, as a plain table. */
function printed() {
  const rows = cases.id.map((_, row) => row).filter((row) => cases.ending[row] !== "pass");
  const shown = rows.slice(0, MOST_PRINTED);
  const body = shown.map((row) =>
    el(
      "tr",
      null,
      el("td", null, badge(ENDINGS[cases.ending[row]])),
      el("td", null, cases.id[row]),
      el("td", null, cases.category[row]),
      el("td", null, cases.reason[row]),
    ),
  );
  document.getElementById("print").replaceChildren(
    el("h2", null, "Scenarios and tests that did not simply pass"),
    rows.length
      ? el(
          "table",
          null,
          el(
            "thead",
            null,
            el(
              "tr",
              null,
              ["Status", "Id", "Category", "Reason"].map((name) => el("th", { scope: "col" }, name)),
            ),
          ),
          el("tbody", null, body),
        )
      : el("p", null, "None."),
    rows.length > shown.length ? el("p", null, `… and ${plural(rows.length - shown.length, "more row")}.`) : "",
    el(
      "p",
      { class: "hint" },
      `${report.suite_file} · passmuster ${report.provenance.version} · suite ${report.provenance.suite_sha256.slice(0, 12)}`,
    ),
  );
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape" && !help.open) {
    if (typing) typing.blur();
    else if (current().scenario || current().test) go({ view: "cases" });
    return;
  }
  if (typing || help.open) return;
  if (event.key === "/") {
    event.preventDefault();
    if (current().view !== "cases") go({ view: "cases" });
    setTimeout(() => document.getElementById("search")?.focus(), 30);
  } else if (event.key === "?") help.showModal();
  else if ("1234".includes(event.key) && event.key) go({ view: ["why", "cases", "metrics", "whatif"][event.key - 1] });
});
addEventListener("beforeprint", printed);
matchMedia("print").addEventListener("change", (event) => event.matches && printed());

root.replaceChildren(
  el(
    "a",
    {
      class: "skip",
      href: "#main",
      click: (event) => {
        event.preventDefault();
        main.querySelector("a, button, input, [tabindex]")?.focus();
      },
    },
    "Skip to the content",
  ),
  top(),
  nav,
  main,
  help,
);
document.documentElement.dataset.verdict = report.verdict;
onChange(show);
show(current(), null);
performance.mark("shown");
