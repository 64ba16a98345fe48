// Metrics: value, interval, what both mean, their history, categories, distributions.

import { el, plural, svg } from "./dom.js";
import { evidence, page, report } from "./data.js";
import { gauge } from "./marks.js";
import { estimateTable, groupTable } from "./groups.js";

export function metrics() {
  const names = Object.keys(report.metrics).filter((name) => !repeats(name));
  const sweep = [estimateTable(), groupTable()].filter(Boolean);
  if (!names.length && !sweep.length) return el("p", null, "A suite of tests alone has no metrics.");
  return el("div", { class: "metrics" }, sweep, names.map(card), categories(), distributions());
}

/** A weighted metric where weights make no difference. */
function repeats(name) {
  const plain = report.metrics[name.replace(/^weighted_/, "")];
  return name.startsWith("weighted_") && JSON.stringify(plain) === JSON.stringify(report.metrics[name]);
}

function boundsOf(name) {
  return report.gate.filter((line) => line.bound?.metric === name && !line.id.startsWith("by_category."));
}

function card(name) {
  const words = page.metrics[name];
  const metric = report.metrics[name];
  const bounds = boundsOf(name);
  return el(
    "section",
    { class: "metric" },
    el("h2", null, name),
    el(
      "p",
      { class: "figure" },
      el("strong", { class: "number" }, words.value),
      words.interval ? el("span", { class: "hint number" }, `95 % interval ${words.interval}`) : null,
      el("span", { class: "hint number" }, `n ${metric.n}`),
    ),
    words.rate && metric.value !== null
      ? gauge({
          value: metric.value,
          interval: metric.ci95,
          bound: bounds[0]?.bound.value,
          least: 0,
          most: 1,
          label: `${name} is ${words.value}`,
          ok: bounds.every((line) => line.status === "pass"),
        })
      : null,
    el("p", null, words.words),
    el("p", { class: "hint" }, words.description),
    bounds.map((line) => el("p", { class: "hint" }, `Threshold ${line.expected}: ${line.status}.`)),
    past(name, bounds, words.rate),
  );
}

/** Earlier runs as a line with intervals; thresholds as a dashed line. */
function past(name, bounds, rate) {
  const runs = (evidence?.history ?? []).filter(
    (run) => run.metrics[name]?.value !== null && run.metrics[name] !== undefined,
  );
  if (runs.length < 2) return null;
  const [width, height] = [Math.min(560, Math.max(220, runs.length * 26)), 96];
  const points = runs.map((run) => run.metrics[name]);
  const all = [
    ...points.flatMap((point) => [point.value, ...(point.ci95 ?? [])]),
    ...bounds.map((line) => line.bound.value),
  ];
  const [least, most] = rate ? [Math.min(0.9, ...all), 1] : [Math.min(...all), Math.max(...all)];
  const x = (at) => 14 + (at * (width - 28)) / Math.max(1, runs.length - 1);
  const y = (value) => height - 12 - ((value - least) / (most - least || 1)) * (height - 24);
  const label = `${name} in the last ${plural(runs.length, "run")}: from ${points[0].words} to ${points.at(-1).words}`;
  const image = svg("svg", {
    class: "past-plot",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": label,
  });
  for (const line of bounds) image.append(svg("path", { class: "bound", d: `M6 ${y(line.bound.value)}H${width - 6}` }));
  points.forEach(
    (point, at) =>
      point.ci95 &&
      image.append(svg("path", { class: "interval", d: `M${x(at)} ${y(point.ci95[0])}V${y(point.ci95[1])}` })),
  );
  image.append(
    svg("path", {
      class: "plot",
      d: points.map((point, at) => `${at ? "L" : "M"}${x(at)} ${y(point.value)}`).join(""),
    }),
  );
  points.forEach((point, at) =>
    image.append(
      svg(
        "circle",
        { class: runs[at].now ? "now" : "then", cx: x(at), cy: y(point.value), r: runs[at].now ? 4 : 2.5 },
        svg("title", null, `${runs[at].label}: ${point.words}`),
      ),
    ),
  );
  return el(
    "figure",
    null,
    image,
    el(
      "figcaption",
      { class: "hint" },
      `Last ${plural(runs.length, "run")}, oldest first; bars are 95 % intervals${bounds.length ? ", the dashed line is the threshold" : ""}.`,
    ),
  );
}

function categories() {
  const found = page.categories.filter((one) => one.n);
  if (found.length < 2) return null;
  const share = (value) => `${Math.round(value * 1000) / 10}%`;
  return el(
    "section",
    { class: "metric wide" },
    el("h2", null, "Pass rate by category"),
    el(
      "table",
      null,
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          ["Category", "Passed", "", "95 % interval", "n"].map((name) =>
            el(name ? "th" : "td", name ? { scope: "col" } : null, name),
          ),
        ),
      ),
      el(
        "tbody",
        null,
        found.map((one) =>
          el(
            "tr",
            null,
            el("th", { scope: "row" }, one.category || "none"),
            el("td", { class: "number" }, share(one.value)),
            el(
              "td",
              null,
              gauge({
                value: one.value,
                interval: one.ci95,
                least: 0,
                most: 1,
                label: `${one.category} ${share(one.value)}`,
                ok: true,
              }),
            ),
            el("td", { class: "number" }, one.ci95 ? one.ci95.map(share).join(" to ") : "–"),
            el("td", { class: "number" }, one.n),
          ),
        ),
      ),
    ),
  );
}

function distributions() {
  return (evidence?.distributions ?? []).map((one) => {
    const [width, height] = [520, 110];
    const most = Math.max(...one.counts, 1);
    const step = (width - 20) / one.counts.length;
    const bars = one.counts.map((count, at) =>
      svg(
        "rect",
        {
          class: "bin",
          x: 10 + at * step,
          y: height - 20 - (count / most) * (height - 30),
          width: Math.max(1, step - 1),
          height: (count / most) * (height - 30),
        },
        svg("title", null, `${one.edges[at]} to ${one.edges[at + 1]} ${one.unit}: ${count}`),
      ),
    );
    return el(
      "section",
      { class: "metric wide" },
      el("h2", null, one.name),
      svg(
        "svg",
        { class: "histogram", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": one.words },
        bars,
        svg("text", { x: 10, y: height - 6 }, `${one.edges[0]} ${one.unit}`),
        svg("text", { x: width - 10, y: height - 6, "text-anchor": "end" }, `${one.edges.at(-1)} ${one.unit}`),
      ),
      el("p", { class: "hint" }, one.words),
    );
  });
}
