"""A suite and its policy as commented text, after what traces bear out. Comments are those of the declarations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from passmuster import metrics
from passmuster._problems import plural
from passmuster.api._learned_policy import LIKELY_POLICY, POLICY, PolicyText, is_nameable, tool_pattern
from passmuster.api._learned_rules import FEW, Learned, LearnedOrder
from passmuster.api._observed_traces import Observed, TaskFacts
from passmuster.api._yaml_text import comment, commented, yaml_block, yaml_list, yaml_scalar
from passmuster.checks import LAYERS, LIMITS, BuiltInKind, rule_class
from passmuster.redaction import Redactor
from passmuster.scoring import declared_metrics
from passmuster.suite import SuiteFile, fields_of, first_line, glob_matcher

_MOST_SCENARIOS = 200
_MOST_ALLOWED = 1_000
_LONGEST_SEQUENCE = 40
_HEADROOM = 1.5
"""How much more than any trace a run may take before it warns."""
_COST_GUARD = 2.0
"""The usual `max_cost_multiplier`: twice as much is worth a look."""
_SIMILARITIES = (0.8, 0.6)
"""The usual values of `min_sequence_similarity`, the better one first."""
_PRIVILEGED = ("admin_*", "debug_*", "drop_*")


class SuiteText:
    """The text of a suite and of its policy; `thresholds` are the metrics that the traces reach."""

    def __init__(self, name: str, sources: list[str], observed: Observed, learned: Learned) -> None:
        self._name, self._sources, self._observed, self._learned = name, sources, observed, learned
        self._redactor = Redactor()
        self.policies = PolicyText(observed, learned, self._redactor).documents()
        self.tasks = dict(self._tasks())

    @property
    def only_warned(self) -> tuple[str, ...]:
        """What the suite warns of that more traces could make block."""
        likely = len(self._learned.likely_order)
        found = {
            "other tools": self._knows_calls and self._learned.traces_for_tools,
            plural(likely, "more order rule"): likely,
            "some arguments": LIKELY_POLICY in self.policies,
        }
        return tuple(words for words, warned in found.items() if warned)

    # ── The suite ───────────────────────────────────────────────────────────────────────────────────────────

    def suite(self, thresholds: Collection[str], mean_cost: float | None = None) -> str:
        """The text of the suite file. What is not among `thresholds` is a comment."""
        found = comment(
            f"Learned by `passmuster init` from {plural(self._observed.traces, 'trace')}, which it passes on. Read it, "
            "remove what is not meant, and turn comments into rules."
        )
        if self._observed.traces < FEW:
            found += comment(
                "So few traces cannot tell a rule from chance: whatever all of them do is asked of every run. Correct "
                "what is not meant, or learn from 50 traces or more."
            )
        found += f'version: "1"\nsuite: {yaml_scalar(self._name)}\n\n'
        if self._sources:
            found += comment(_key("traces")) + yaml_block("traces", self._sources, "") + "\n"
        found += comment(_key("tests")) + "tests:\n" + "\n".join(self._tests()) + "\n"
        if self.tasks:
            found += self._scenarios()
        else:
            found += _example_scenario()
        return found + self._thresholds(thresholds, mean_cost)

    def _tests(self) -> Iterator[str]:
        if POLICY in self.policies:
            yield _arguments_test("arguments", POLICY)
        if LIKELY_POLICY in self.policies:
            yield _arguments_test("likely_arguments", LIKELY_POLICY, blocks=False)
        if self._knows_calls and len(self._observed.tools) <= _MOST_ALLOWED:
            yield self._allowlist()
        for order, blocks in ((self._learned.order, True), (self._learned.likely_order, False)):
            if nameable := [one for one in order if all(map(is_nameable, (*one.firsts, one.then)))]:
                yield _order_test(nameable, blocks)
        if self._limits():
            yield self._limits()
        if path := self._usual_path():
            yield path
        if not self._knows_calls or self._learned.traces_for_tools:
            yield self._blocklist()

    @property
    def _knows_calls(self) -> bool:
        return self._observed.calls_unknown < self._observed.traces

    def _allowlist(self) -> str:
        found = comment(f"{_rule('allowlist')} These are the tools that the traces call.", "  ")
        severity = ""
        if needed := self._learned.traces_for_tools:
            found += comment(
                f"It only warns: about {self._learned.new_tools:.1%} of new runs will call a tool that none of these "
                "traces does. Add the agent's other tools and delete `severity`, or learn from more traces (about "
                f"{needed}, if they bring no new tool).",
                "  ",
            )
            severity = "    severity: warn\n"
        tools = yaml_block("tools", map(tool_pattern, sorted(self._observed.tools)), " " * 8)
        return (
            f"{found}  - id: known_tools\n    metric: sequence_valid\n{severity}    rules:\n"
            f"      - type: allowlist\n{tools}"
        )

    def _blocklist(self) -> str:
        """Where other tools may be called, those that sound privileged may not."""
        patterns = [one for one in _PRIVILEGED if not any(map(glob_matcher(one), self._observed.tools))]
        return (
            comment(first_line(BuiltInKind("tool_blocklist").record.__doc__), "  ")
            + "  - id: no_privileged_tools\n    metric: tool_blocklist\n"
            + f"    blocklist: {yaml_list(patterns)}\n"
        )

    def _limits(self) -> str:
        known = {key: most for key, most in self._observed.most.items() if key not in self._observed.unknown}
        if not known:
            return ""
        found = comment(
            f"{first_line(BuiltInKind('run_limits').record.__doc__)} The limits are {_HEADROOM:g} times what any trace "
            "took; beyond them a run warns.",
            "  ",
        )
        found += "  - id: usual_effort\n    metric: run_limits\n    severity: warn\n"
        for key, most in known.items():
            found += f"    {key}: {yaml_scalar(above(most, _HEADROOM, whole=LIMITS[key].value is not _AMOUNT))}"
            found += f" # {LIMITS[key].description}\n"
        return found

    def _usual_path(self) -> str:
        """What runs usually do and need not: it warns."""
        rules = [f"{{ type: require, tool: {_tool(name)} }}" for name in self._learned.required_tools]
        rules += [
            f"{{ type: max_calls, tool: {_tool(name)}, max: {above(facts.most_calls, _HEADROOM, whole=True):g} }}"
            for name, facts in sorted(self._observed.tools.items())
            if len(self._observed.tools) <= _MOST_ALLOWED and is_nameable(name)
        ]
        if not rules:
            return ""
        found = comment(f"{_rule('require')} {_rule('max_calls')} A run that does otherwise warns.", "  ")
        found += "  - id: usual_path\n    metric: sequence_valid\n    severity: warn\n    rules:\n"
        return found + "".join(f"      - {rule}\n" for rule in rules)

    # ── Scenarios ───────────────────────────────────────────────────────────────────────────────────────────

    def _tasks(self) -> Iterator[tuple[str, TaskFacts]]:
        """What becomes a scenario: those that traces name, and queries that several traces have."""
        for id_, task in self._observed.scenarios.items():
            if self._hidden(id_) == id_ and id_ == id_.strip():
                yield id_, task
        taken = set(self._observed.scenarios)
        number = 0
        for query, task in self._observed.queries.items():
            if task.runs > 1 and self._hidden(query) == query:
                number += 1
                while f"TASK-{number:03}" in taken:
                    number += 1
                yield f"TASK-{number:03}", task

    def _hidden(self, text: str) -> str:
        return self._redactor.hide(text)

    def _scenarios(self) -> str:
        shown = list(self.tasks.items())[:_MOST_SCENARIOS]
        found = comment(f"{_key('scenarios')} What a right answer is only you know: state it under `correctness`.")
        found += "scenarios:\n" + "\n".join(self._scenario(id_, task) for id_, task in shown)
        if len(self.tasks) > len(shown):
            found += comment(f"{len(self.tasks) - len(shown)} more are left out; `passmuster promote` adds one.", "  ")
        found += "\n" + comment(
            f"{_key('optional_scenarios')} Take one out of this list once it states what a right answer is."
        )
        return found + yaml_block("optional_scenarios", (id_ for id_, _ in shown), "") + "\n"

    def _scenario(self, id_: str, task: TaskFacts) -> str:
        found = f"  - id: {yaml_scalar(id_)} # {plural(task.runs, 'trace')}\n"
        if task.query is not None and task.one_query and self._hidden(task.query) == task.query:
            found += f"    query: {yaml_scalar(task.query)}\n"
        else:
            found += "    # query: none that all runs share\n"
        if task.answer is not None:
            answer = yaml_scalar(" ".join(self._redactor.text(task.answer, 100).split()))
            found += commented(f"correctness: # one run answered {answer}\n  expected_in_answer: []\n", "    ")
        return found + self._path(task) + self._cost(task)

    def _path(self, task: TaskFacts) -> str:
        if task.calls_unknown or not task.sequences:
            return ""
        most = task.most["max_tool_calls"]
        if not most:
            return "    path:\n      max_tool_calls: 0\n"
        reference = max(task.sequences, key=lambda one: (task.sequences[one], len(one)))
        found = "    path:\n"
        if task.tools:
            found += yaml_block("expected_tools", sorted(task.tools), " " * 6) + "      min_tool_recall: 1.0\n"
        if len(reference) <= _LONGEST_SEQUENCE and reference:
            similarity = min(metrics.sequence_lcs(one, reference) for one in task.sequences)
            reached = next((one for one in _SIMILARITIES if similarity >= one), None)
            if reached is None:
                found += f"      # min_sequence_similarity: {_SIMILARITIES[-1]} # the runs reach {similarity:.2f}\n"
            else:
                found += yaml_block("expected_tool_sequence", reference, " " * 6)
                found += f"      min_sequence_similarity: {reached}\n"
        return found + f"      max_tool_calls: {above(most, _HEADROOM, whole=True):g}\n"

    def _cost(self, task: TaskFacts) -> str:
        known = [
            key
            for key in ("max_total_tokens", "max_latency_ms", "max_cost_usd")
            if key not in self._observed.unknown and task.most.get(key)
        ]
        if not known:
            return ""
        found = "    cost:\n"
        for key in known:
            found += f"      {key}: {yaml_scalar(above(task.most[key], _COST_GUARD))}\n"
        return found

    # ── Thresholds ──────────────────────────────────────────────────────────────────────────────────────────

    def _thresholds(self, reached: Collection[str], mean_cost: float | None) -> str:
        typical = {one.name: one for one in declared_metrics().values() if one.typical is not None}
        found = comment(f"{_key('thresholds')} The typical ones, as comments where these traces do not reach them.")
        active = [name for name in typical if name in reached]
        guard = mean_cost is not None and mean_cost > 0
        found += "thresholds:\n  warning:\n" if active or guard else "# thresholds:\n#   warning:\n"
        for name in sorted(typical, key=lambda one: (one not in active, typical[one].order)):
            line = f"{name}: {yaml_scalar(typical[name].typical or '')} # {typical[name].description}\n"
            found += f"    {line}" if name in active else f"    # {line}"
        if guard and mean_cost is not None:
            description = declared_metrics()["mean_cost_usd"].description
            found += f"    mean_cost_usd: {yaml_scalar(above(mean_cost, _COST_GUARD))} # {description}\n"
        blocking = comment(
            "`blocking` fails the gate. Move bounds there as soon as scenarios state right answers.", "  "
        )
        return found + (blocking if active or guard else blocking.replace("  # ", "#   # "))


_AMOUNT = LIMITS["max_cost_usd"].value


def possible_thresholds(has_scenarios: bool) -> tuple[str, ...]:
    """The metrics with a typical threshold that a learned suite can have a value for."""
    return ("pass_rate", "latency_p95") if has_scenarios else ("latency_p95",)


def above(most: float, factor: float, *, whole: bool = False) -> float:
    """A round number of at least `factor` times as much."""
    if most <= 0:
        return 1.0 if whole else 0.0
    wanted = max(most * factor, most + 1) if whole else most * factor
    step = 10.0 ** (math.floor(math.log10(wanted)) - 1)
    rounded = math.ceil(wanted / step - 1e-9) * step
    return float(math.ceil(rounded)) if whole else float(f"{rounded:.12g}")


def _arguments_test(id_: str, policy: str, *, blocks: bool = True) -> str:
    severity = "" if blocks else "    severity: warn\n"
    found = comment(first_line(BuiltInKind("args_valid").record.__doc__), "  ") if blocks else ""
    return f"{found}  - id: {id_}\n    metric: args_valid\n{severity}    policy: {policy}\n"


def _order_test(order: list[LearnedOrder], blocks: bool) -> str:
    found = comment(f"{_rule('before')} Beside each rule: how many traces call `then`; all of them agree.", "  ")
    if blocks:
        found += "  - id: usual_order\n    metric: sequence_valid\n    rules:\n"
    else:
        found += comment(
            "These only warn, for it may be chance. Move those that are meant to a test that blocks.", "  "
        )
        found += "  - id: likely_order\n    metric: sequence_valid\n    severity: warn\n    rules:\n"
    for one in order:
        firsts = [tool_pattern(first) for first in one.firsts]
        first = yaml_scalar(firsts[0]) if len(firsts) == 1 else yaml_list(firsts)
        found += f"      - {{ type: before, first: {first}, then: {_tool(one.then)}, allow_unexercised: true }}"
        found += f" # {plural(one.support, 'trace')}\n"
    return found


def _key(name: str) -> str:
    return fields_of(SuiteFile)[name].key.description


def _rule(type_: str) -> str:
    return f"`{type_}`: {first_line(rule_class(type_).__doc__)}"


def _tool(name: str) -> str:
    return yaml_scalar(tool_pattern(name))


def _example_scenario() -> str:
    """How a scenario is written, as a comment."""
    example = """\
scenarios:
  - id: TASK-001
    query: What the agent is asked.
    correctness: { expected_in_answer: [what a right answer contains] }
    path: { expected_tools: [the_tools_it_should_use], min_tool_recall: 1.0 }
    cost: { max_cost_usd: 0.05 }
"""
    layers = " ".join(f"`{name}`: {layer.description}" for name, layer in LAYERS.items())
    advice = "`passmuster promote` makes one of a trace."
    return comment(f"{_key('scenarios')} {layers} {advice}") + commented(example, "") + "\n"
