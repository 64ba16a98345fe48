// What is shown is in the address (`#scenario=SUP-001&run=t-7`), so every view can be linked to.

export const VIEWS = { why: "Why", cases: "Scenarios and tests", metrics: "Metrics", whatif: "What if" };
const KEYS = [
  "view",
  "scenario",
  "test",
  "run",
  "with",
  "q",
  "ending",
  "kind",
  "category",
  "tool",
  "flaky",
  "changed",
  "sort",
];
/** Keys that a link to another case leaves behind. */
const OF_A_CASE = ["scenario", "test", "run", "with"];

const listeners = [];
let state = parse();

function parse() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const key of KEYS) if (given.get(key)) found[key] = given.get(key);
  if (found.scenario || found.test) found.view = "cases";
  if (!(found.view in VIEWS)) found.view = "why";
  return found;
}

export function current() {
  return state;
}

/** The address of what is shown now with these changes; null removes a key. */
export function link(changes) {
  const next = { ...state, ...changes };
  if ("scenario" in changes || "test" in changes || "view" in changes) {
    for (const key of OF_A_CASE) if (!(key in changes)) delete next[key];
  }
  const written = new URLSearchParams();
  if (next.scenario || next.test) delete next.view;
  for (const key of KEYS) if (next[key]) written.set(key, next[key]);
  return `#${written}`;
}

/** Show it. `replace` leaves no step for the back button, for typing and dragging. */
export function go(changes, { replace = false } = {}) {
  const target = link(changes);
  if (target === location.hash || (target === "#" && !location.hash)) return;
  if (replace) location.replace(target);
  else location.hash = target;
}

export function onChange(listener) {
  listeners.push(listener);
}

addEventListener("hashchange", () => {
  const before = state;
  state = parse();
  for (const listener of listeners) listener(state, before);
});
