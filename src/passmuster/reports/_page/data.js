// What the page shows: JSON in the page itself, each block decoded when it is first needed.

const blocks = new Map();

function block(id) {
  if (!blocks.has(id)) {
    const element = document.getElementById(id);
    blocks.set(id, element ? JSON.parse(element.textContent) : null);
    element?.remove(); // its text is no longer needed
  }
  return blocks.get(id);
}

export const head = block("head");
/** The JSON report without its tests and scenarios, which are decoded one by one. */
export const report = head.report;
/** What Python said about the report: sentences, endings, figures in words. */
export const page = head.page;
/** One row per scenario and test, in columns. */
export const cases = head.cases;

export function scenarioAt(number) {
  const size = page.chunk;
  return block(`scenarios-${Math.floor(number / size)}`)[number % size];
}

export function testAt(number) {
  return block(`test-${number}`);
}

export function traceAt(number) {
  return block(`trace-${number}`);
}

/** What belongs to the page besides the report: kept traces, earlier runs, breakpoints; null where there is none. */
export const evidence = head.evidence;

const rows = new Map(cases.id.map((id, row) => [`${cases.kind[row]}:${id}`, row]));

/** The row of a scenario (`s`) or a test (`t`); undefined where there is none. */
export function rowOf(kind, id) {
  return rows.get(`${kind}:${id}`);
}
