// Scenarios and tests: filter, sort, search. Only the rows in sight exist, so that ten thousand stay smooth.

import { el, plural } from "./dom.js";
import { cases, evidence } from "./data.js";
import { ENDINGS, badge, dots, trail } from "./marks.js";
import { current, go, link } from "./route.js";

const AHEAD = 8;
const ORDER = Object.keys(ENDINGS);
const COLUMNS = [
  { key: "ending", name: "Status", value: (row) => ORDER.indexOf(cases.ending[row]) },
  { key: "id", name: "Id", value: (row) => cases.id[row].toLowerCase() },
  { key: "category", name: "Category", value: (row) => cases.category[row].toLowerCase() },
  { key: "rate", name: "Passed", value: (row) => cases.rate[row] ?? 2, number: true },
  { key: "runs", name: "Runs", value: (row) => cases.runs[row], number: true },
  ...(evidence?.trails ? [{ key: "trail", name: "History", value: (row) => trailOf(row) }] : []),
  { key: "reason", name: "Reason", value: (row) => cases.reason[row].toLowerCase() },
];

function trailOf(row) {
  return evidence?.trails?.[row] ?? "";
}

let haystack = null;

/** Everything of a row that search looks at, in lower case; made when somebody searches. */
function texts() {
  haystack ??= cases.id.map((id, row) =>
    [
      id,
      cases.category[row],
      cases.reason[row],
      ENDINGS[cases.ending[row]].word,
      ...cases.tools[row].map((tool) => cases.tool_names[tool]),
    ]
      .join("\n")
      .toLowerCase(),
  );
  return haystack;
}

/** The part of the address that decides which rows are shown. */
export function filterOf(state) {
  return JSON.stringify(
    ["q", "ending", "kind", "category", "tool", "flaky", "changed", "sort"].map((key) => state[key]),
  );
}

/** The rows that the filters let through, sorted. */
export function chosen(state) {
  const endings = state.ending ? new Set(state.ending.split(",")) : null;
  const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const tool = state.tool ? cases.tool_names.indexOf(state.tool) : -1;
  const changed = state.changed && evidence?.changes ? new Set(evidence.changes[state.changed]) : null;
  const rows = [];
  for (let row = 0; row < cases.id.length; row++) {
    if (endings && !endings.has(cases.ending[row])) continue;
    if (state.kind && cases.kind[row] !== state.kind) continue;
    if (state.category && cases.category[row] !== state.category) continue;
    if (state.flaky && !cases.flaky[row]) continue;
    if (state.tool && !cases.tools[row].includes(tool)) continue;
    if (changed && !changed.has(`${cases.kind[row]}:${cases.id[row]}`)) continue;
    if (words.length && !words.every((word) => texts()[row].includes(word))) continue;
    rows.push(row);
  }
  const [, down, key] = /^(-?)(.*)$/.exec(state.sort ?? "ending");
  const column = COLUMNS.find((one) => one.key === key) ?? COLUMNS[0];
  const values = new Map(rows.map((row) => [row, column.value(row)]));
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [values.get(a), values.get(b)];
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

function counts() {
  const found = {};
  for (const ending of cases.ending) found[ending] = (found[ending] ?? 0) + 1;
  return found;
}

function filters(state) {
  const set = (changes) => go(changes, { replace: true });
  const chips = Object.entries(counts()).sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const pressed = (ending) => (current().ending ?? "").split(",").includes(ending);
  const search = el("input", {
    id: "search",
    type: "search",
    placeholder: "Search id, reason, tool",
    "aria-label": "Search scenarios and tests",
    value: state.q ?? "",
    input: (event) => set({ q: event.target.value || null }),
  });
  const select = (key, label, options, all) =>
    el(
      "label",
      null,
      el("span", { class: "label" }, label),
      el(
        "select",
        { change: (event) => set({ [key]: event.target.value || null }) },
        el("option", { value: "" }, all),
        options.map(([value, word]) => el("option", { value, selected: state[key] === value }, word)),
      ),
    );
  const categories = [...new Set(cases.category)].filter(Boolean).sort();
  const tools = [...cases.tool_names].sort();
  return el(
    "form",
    { class: "filters", role: "search", submit: (event) => event.preventDefault() },
    search,
    el(
      "div",
      { class: "chips", role: "group", "aria-label": "Status" },
      chips.map(([ending, count]) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(pressed(ending)),
            click: (event) => {
              const now = new Set((current().ending ?? "").split(",").filter(Boolean));
              if (!now.delete(ending)) now.add(ending);
              event.currentTarget.setAttribute("aria-pressed", String(now.has(ending)));
              set({ ending: [...now].join(",") || null });
            },
          },
          badge(ENDINGS[ending], ` ${count.toLocaleString("en")}`),
        ),
      ),
    ),
    new Set(cases.kind).size > 1
      ? select(
          "kind",
          "Kind",
          [
            ["s", "Scenarios"],
            ["t", "Tests"],
          ],
          "Both",
        )
      : null,
    categories.length > 1
      ? select(
          "category",
          "Category",
          categories.map((one) => [one, one]),
          "All",
        )
      : null,
    tools.length
      ? select(
          "tool",
          "Tool",
          tools.map((one) => [one, one]),
          "Any",
        )
      : null,
    evidence?.changes
      ? select(
          "changed",
          "Changed",
          [
            ["worse", "Newly failing"],
            ["fixed", "Fixed"],
          ],
          "All",
        )
      : null,
    cases.flaky.some(Boolean)
      ? el(
          "label",
          { class: "check" },
          el("input", {
            type: "checkbox",
            checked: Boolean(state.flaky),
            change: (event) => set({ flaky: event.target.checked ? "1" : null }),
          }),
          "Flaky only",
        )
      : null,
  );
}

function rowElement(row, index, selected) {
  const kind = cases.kind[row] === "s" ? "scenario" : "test";
  const rate = cases.rate[row];
  const share = rate === null ? "–" : `${Math.round(rate * 1000) / 10}%`;
  const id = cases.id[row];
  return el(
    "div",
    { class: "row", role: "row", id: `row-${row}`, "aria-rowindex": index + 2, "aria-selected": String(selected) },
    el("div", { class: "c-ending", role: "gridcell" }, badge(ENDINGS[cases.ending[row]])),
    el(
      "div",
      { class: "c-id", role: "gridcell", title: id },
      el("a", { href: link({ [kind]: id, view: null }), tabindex: -1 }, id),
      kind === "test" ? el("span", { class: "tag" }, "test") : null,
      cases.flaky[row] ? el("span", { class: "tag" }, "flaky") : null,
    ),
    el("div", { class: "c-category", role: "gridcell", title: cases.category[row] }, cases.category[row]),
    el("div", { class: "c-rate number", role: "gridcell" }, share),
    el(
      "div",
      { class: "c-runs number", role: "gridcell" },
      kind === "scenario" && cases.runs[row] > 1 ? dots(cases.dots[row], cases.runs[row], 8) : String(cases.runs[row]),
    ),
    evidence?.trails ? el("div", { class: "c-trail", role: "gridcell" }, trail(trailOf(row))) : null,
    el("div", { class: "c-reason", role: "gridcell", title: cases.reason[row] }, cases.reason[row]),
  );
}

/** The table; `open` is called with the row that a person chooses. */
export function table(state) {
  let rows = chosen(state);
  let at = Math.max(0, rows.indexOf(selectedRow(state)));
  const status = el("p", { class: "found", role: "status" });
  const body = el("div", { class: "body", role: "rowgroup" });
  const header = el("div", { class: "head", role: "rowgroup" });
  const grid = el(
    "div",
    {
      class: evidence?.trails ? "grid trailed" : "grid",
      id: "grid",
      role: "grid",
      tabindex: 0,
      "aria-label": "Scenarios and tests",
      "aria-colcount": COLUMNS.length,
      scroll: () => draw(),
      keydown: keys,
      click: press,
    },
    header,
    body,
  );
  const drawn = new Map();
  let height = 0;

  function measure() {
    height = parseFloat(getComputedStyle(grid).getPropertyValue("--row")) || 36;
    body.style.height = `${rows.length * height}px`;
  }

  function draw(afresh = false) {
    if (!height) measure();
    if (afresh) {
      body.replaceChildren();
      drawn.clear();
    }
    const first = Math.max(0, Math.floor(grid.scrollTop / height) - AHEAD);
    const last = Math.min(rows.length, Math.ceil((grid.scrollTop + grid.clientHeight) / height) + AHEAD);
    for (const [index, element] of drawn) {
      if (index < first || index >= last) {
        element.remove();
        drawn.delete(index);
      }
    }
    const added = document.createDocumentFragment();
    for (let index = first; index < last; index++) {
      if (drawn.has(index)) continue;
      const element = rowElement(rows[index], index, index === at);
      element.style.transform = `translateY(${index * height}px)`;
      drawn.set(index, element);
      added.append(element);
    }
    body.append(added);
    grid.setAttribute("aria-activedescendant", rows.length ? `row-${rows[at]}` : "");
  }

  function refresh() {
    const kept = rows[at];
    rows = chosen(current());
    at = Math.max(0, rows.indexOf(kept));
    grid.setAttribute("aria-rowcount", rows.length + 1);
    status.textContent =
      rows.length === cases.id.length
        ? `${plural(rows.length, "row")}`
        : `${rows.length.toLocaleString("en")} of ${plural(cases.id.length, "row")}`;
    heads();
    measure();
    if (grid.scrollTop > rows.length * height) grid.scrollTop = 0;
    draw(true);
  }

  function heads() {
    const sort = current().sort ?? "ending";
    header.replaceChildren(
      el(
        "div",
        { class: "row", role: "row", "aria-rowindex": 1 },
        COLUMNS.map(({ key, name, number }) => {
          const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none";
          const next = sort === key ? `-${key}` : key;
          return el(
            "div",
            { class: `c-${key}${number ? " number" : ""}`, role: "columnheader", "aria-sort": direction },
            el(
              "button",
              { type: "button", tabindex: -1, click: () => go({ sort: next }, { replace: true }) },
              name,
              direction === "none" ? "" : direction === "ascending" ? " ↑" : " ↓",
            ),
          );
        }),
      ),
    );
  }

  function select(index, { reveal = true } = {}) {
    drawn.get(at)?.setAttribute("aria-selected", "false");
    at = Math.max(0, Math.min(rows.length - 1, index));
    if (reveal) {
      const above = at * height;
      const room = grid.clientHeight - header.offsetHeight;
      if (above < grid.scrollTop) grid.scrollTop = above;
      else if (above + height > grid.scrollTop + room) grid.scrollTop = above + height - room;
    }
    draw();
    drawn.get(at)?.setAttribute("aria-selected", "true");
  }

  function open() {
    const row = rows[at];
    if (row !== undefined) go({ [cases.kind[row] === "s" ? "scenario" : "test"]: cases.id[row], view: null });
  }

  function press(event) {
    const element = event.target.closest(".body .row");
    if (!element) return;
    event.preventDefault();
    select(rows.indexOf(Number(element.id.slice(4))), { reveal: false });
    open();
  }

  function keys(event) {
    const pageful = Math.max(1, Math.floor(grid.clientHeight / height) - 2);
    const moves = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + pageful,
      PageUp: at - pageful,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      select(moves[event.key]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      open();
    }
  }

  const element = el("div", { class: "table" }, filters(state), status, grid);
  new ResizeObserver(() => {
    measure();
    draw(true);
    if (current().scenario || current().test) select(at);
  }).observe(grid);
  requestAnimationFrame(refresh);
  return {
    element,
    refresh,
    focus: () => grid.focus(),
    show: (row) => rows.includes(row) && select(rows.indexOf(row)),
  };
}

function selectedRow(state) {
  const [kind, id] = state.scenario ? ["s", state.scenario] : ["t", state.test];
  return cases.id.findIndex((one, row) => one === id && cases.kind[row] === kind);
}
