"""A suite and its policy as commented text, after what traces bear out. Comments are those of the declarations."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator

from passmuster import metrics
from passmuster._problems import plural
from passmuster.api._learned_rules import Learned, LearnedArgument, LearnedOrder, LearnedTool
from passmuster.api._observed_traces import ArgumentFacts, Observed, TaskFacts
from passmuster.api._yaml_text import comment, commented, yaml_block, yaml_list, yaml_scalar
from passmuster.checks import LAYERS, LIMITS, Argument, BuiltInKind, ToolEntry, rule_class
from passmuster.redaction import Redactor, is_secret_name
from passmuster.scoring import declared_metrics
from passmuster.suite import SuiteFile, escape_glob, fields_of, first_line, why_bad_glob, why_no_tool

POLICY = "policies/tools.yaml"
_MOST_SCENARIOS = 200
_MOST_ALLOWED = 1_000
_LONGEST_SEQUENCE = 40
_LONGEST_NAME = 500
"""Of a tool or an argument; YAML takes keys of up to 1,024 characters."""
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
        self.tasks = dict(self._tasks())

    @property
    def checks_arguments(self) -> bool:
        """Whether there is anything to say about arguments, and so a policy."""
        return any(_unclear(tool) is None for tool in self._learned.tools)

    # ── The policy ──────────────────────────────────────────────────────────────────────────────────────────

    def policy(self) -> str:
        """The text of the policy file."""
        found = comment(
            f"{first_line(BuiltInKind('args_valid').record.__doc__)} Types and what is required were learned from "
            f"{plural(self._observed.traces, 'trace')}; values in comments were seen and are not required."
        )
        closed = fields_of(ToolEntry)["additional_arguments"].key.description
        found += comment(f"`additional_arguments`: {closed} By default they are.")
        for key in ("type", "required", "min", "max", "enum"):
            found += comment(f"`{key}`: {fields_of(Argument)[key].key.description}")
        return found + "\ntools:\n" + "\n".join(self._tool(tool) for tool in self._learned.tools)

    def _tool(self, tool: LearnedTool) -> str:
        name = yaml_scalar(tool_pattern(tool.name))
        calls = f"in {plural(tool.facts.seen.traces, 'trace')}"
        if (unclear := _unclear(tool)) is not None:
            return comment(f"{name}: not checked, because {unclear}", "  ")
        if not tool.asked and not tool.rare:
            return f"  {name}: {{}} # called without arguments, {calls}\n"
        found = f"  {name}: # {calls}\n    # additional_arguments: false\n"
        found += "    arguments:\n" if tool.asked else "    arguments: {}\n"
        for argument in tool.asked:
            found += f"      {self._argument(argument)}{self._seen(argument)}\n"
        for argument in tool.rare:
            found += (
                f"      # {self._argument(argument)} # seen in {plural(argument.facts.given.traces, 'trace')} only\n"
            )
        return found

    def _argument(self, argument: LearnedArgument) -> str:
        types = argument.types
        type_ = yaml_scalar(types[0]) if len(types) == 1 else yaml_list(types)
        return f"{yaml_scalar(argument.name)}: {{ type: {type_}{', required: true' if argument.required else ''} }}"

    def _seen(self, argument: LearnedArgument) -> str:
        """What was seen of the values, as a comment: a range, or the few strings there were."""
        facts, found = argument.facts, []
        if argument.always and not argument.required:
            found.append("required: true")
        if is_secret_name(argument.name):
            facts = ArgumentFacts()
        if facts.low is not None and facts.high is not None:
            found.append(f"min: {yaml_scalar(facts.low)}, max: {yaml_scalar(facts.high)}")
        texts = sorted(facts.texts or ())
        if texts and len(texts) < facts.given.traces and all(self._hidden(text) == text for text in texts):
            found.append(f"enum: {yaml_list(texts)}")
        return f" # seen: {', '.join(found)}" if found else ""

    # ── The suite ───────────────────────────────────────────────────────────────────────────────────────────

    def suite(self, thresholds: Collection[str], mean_cost: float | None = None) -> str:
        """The text of the suite file. What is not among `thresholds` is a comment."""
        found = comment(
            f"Learned by `passmuster init` from {plural(self._observed.traces, 'trace')}, which it passes on. Read it, "
            "remove what is not meant, and turn comments into rules."
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
        if self.checks_arguments:
            yield (
                comment(first_line(BuiltInKind("args_valid").record.__doc__), "  ")
                + f"  - id: arguments\n    metric: args_valid\n    policy: {POLICY}\n"
            )
        if self._knows_calls and len(self._observed.tools) <= _MOST_ALLOWED:
            yield self._allowlist()
        if order := [one for one in self._learned.order if all(map(is_nameable, (*one.firsts, one.then)))]:
            yield _order_test(order)
        if self._limits():
            yield self._limits()
        if path := self._usual_path():
            yield path
        if not self._knows_calls:
            yield (
                comment(first_line(BuiltInKind("tool_blocklist").record.__doc__), "  ")
                + "  - id: no_privileged_tools\n    metric: tool_blocklist\n"
                + f"    blocklist: {yaml_list(_PRIVILEGED)}\n"
            )

    @property
    def _knows_calls(self) -> bool:
        return self._observed.calls_unknown < self._observed.traces

    def _allowlist(self) -> str:
        found = comment(f"{_rule('allowlist')} These are the tools that the traces call.", "  ")
        severity = ""
        if not self._learned.tools_are_complete and self._observed.traces >= 100:
            rate = f"{self._learned.unknown_tools_rate:.1%}"
            found += comment(
                f"It only warns: {rate} of the traces call a tool that no other does, so new ones will bring more.",
                "  ",
            )
            severity = "    severity: warn\n"
        tools = yaml_block("tools", map(tool_pattern, sorted(self._observed.tools)), " " * 8)
        return (
            f"{found}  - id: known_tools\n    metric: sequence_valid\n{severity}    rules:\n"
            f"      - type: allowlist\n{tools}"
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


def _unclear(tool: LearnedTool) -> str | None:
    """Why the arguments of a tool cannot be checked; None where they can."""
    if not is_nameable(tool.name):
        return "no pattern fits its name alone"
    if any(len(argument.name) > _LONGEST_NAME for argument in (*tool.asked, *tool.rare)):
        return f"an argument has a name of more than {_LONGEST_NAME} characters"
    return tool.facts.unclear


def is_nameable(name: str) -> bool:
    """Whether a pattern fits a tool of this name and no other; some names a suite refuses, for they look like slips."""
    pattern = escape_glob(name)
    return len(name) <= _LONGEST_NAME and not (why_bad_glob(pattern) or why_no_tool(pattern))


def tool_pattern(name: str) -> str:
    """A pattern that fits a tool of this name, and as little else as can be."""
    return escape_glob(name) if is_nameable(name) else re.sub(r"[^\w.:/-]", "?", name)


def above(most: float, factor: float, *, whole: bool = False) -> float:
    """A round number of at least `factor` times as much."""
    if most <= 0:
        return 1.0 if whole else 0.0
    wanted = max(most * factor, most + 1) if whole else most * factor
    step = 10.0 ** (math.floor(math.log10(wanted)) - 1)
    rounded = math.ceil(wanted / step - 1e-9) * step
    return float(math.ceil(rounded)) if whole else float(f"{rounded:.12g}")


def _order_test(order: list[LearnedOrder]) -> str:
    found = comment(f"{_rule('before')} Beside each rule: how many traces call `then`; all of them agree.", "  ")
    found += "  - id: usual_order\n    metric: sequence_valid\n    rules:\n"
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
