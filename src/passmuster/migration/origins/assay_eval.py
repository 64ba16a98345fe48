"""Assay's evals (`mcp-eval.yaml`, `assay.yaml`): tests with an input and what is expected of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from passmuster._problems import Problem, SuiteError
from passmuster.migration._assay_rules import aliases_of, rules_of, sequence_rule
from passmuster.migration._draft import Draft, entries_of, items_of, made, text_of
from passmuster.migration._scenario_draft import ScenarioDraft, json_of, suite_of
from passmuster.suite import Documents, Mapping, Node, Scalar, Sequence, find_root, plain

DESCRIPTION = "Evals of Assay: tests with `input`, `expected` and `assertions`."

_IGNORED = ("model", "settings", "metadata", "otel", "configVersion", "version", "on_error")
_RELATIVE = ("thresholds",)
_TEST = ("id", "input", "expected", "assertions", "policy", "description", "tags", "metadata", "on_error")
_UNTESTABLE = ("tool_output_valid", "tool_description_integrity", "tool_collision_detect", "$ref")


def recognize(document: Node) -> bool:
    """Tests that have an input, and expectations in Assay's words."""
    items = items_of(document.get("tests")) if isinstance(document, Mapping) else []
    tests = [entries_of(item) for item in items]
    return bool(tests) and all("input" in test and "id" in test for test in tests)


def translate(document: Mapping, draft: Draft) -> Mapping:
    """Each test as a scenario; arguments are checked by tests of their own."""
    found: dict[str, Any] = {}
    for entry in document:
        if entry.key in _RELATIVE:
            draft.note(entry, "lost", f"'{entry.key}' compares with a baseline; save one, and run with --baseline")
        elif entry.key in _IGNORED:
            if entry.key not in ("version", "configVersion"):
                draft.note(entry, "ignored", f"'{entry.key}' checks nothing")
            if "thresholding" in (stated := entries_of(entry.value)):
                text = "'thresholding' compares with a baseline; save one, and run with --baseline"
                draft.note(stated["thresholding"], "lost", text)
        elif entry.key != "tests":
            found[entry.key] = entry.value
    shared = entries_of(found.pop("policies", None))
    cases: list[ScenarioDraft] = [_Case(item, shared, draft) for item in items_of(document.get("tests"))]
    return cast(Mapping, suite_of(cases, document, found))


class _Case(ScenarioDraft):
    """One test of Assay's on its way to a scenario."""

    def __init__(self, node: Node, shared: dict[str, Node], draft: Draft) -> None:
        stated = entries_of(node)
        given = stated.get("input")
        super().__init__(node, draft, stated.get("id"), entries_of(given).get("prompt") or given)
        self.copy(stated, "description", "tags")
        self.note_others(stated, _TEST)
        for key in ("metadata", "on_error"):
            if key in stated:
                self.note(stated[key], "ignored", f"'{key}' checks nothing")
        for expected in items_of(stated.get("expected")):
            self._expect(expected)
        policy = entries_of(shared.get(text_of(stated.get("policy"))))
        if "policy" in stated and not policy:
            self.note(stated["policy"], "lost", f"there is no policy '{text_of(stated['policy'])}'")
        for assertion in [*items_of(policy.get("assertions")), *items_of(stated.get("assertions"))]:
            self._assert(assertion)

    def _expect(self, node: Node) -> None:
        stated = entries_of(node)
        kind = text_of(stated.get("type")) or next((key for key in _EXPECTED if key in stated), "")
        if kind in _UNTESTABLE or any(key in stated for key in _UNTESTABLE):
            self.note(node, "lost", f"'{kind or '$ref'}' is not checked; traces do not carry what it needs")
        elif kind in _EXPECTED:
            self.carry(f"'{kind}'", node, partial(_EXPECTED[kind], self, stated, node))
        else:
            self.note(node, "lost", f"'{kind or 'expected'}' is not known, so it is not checked")

    def _assert(self, node: Node) -> None:
        stated = entries_of(node)
        kind = text_of(stated.get("type"))
        if {"test_args", "test_trace", "test_trace_raw", "test_tool_calls"} & stated.keys():
            self.note(node, "ignored", f"'{kind}' with its own data checks that data, not the agent")
        elif kind in _ASSERTED:
            self.carry(f"the assertion '{kind}'", node, partial(_ASSERTED[kind], self, stated, node))
        else:
            self.note(node, "lost", f"the assertion '{kind}' is not known, so it is not checked")


Stated = dict[str, Node]


def _texts(node: Node | None) -> list[str]:
    """Each text as a pattern: Assay compares upper and lower case."""
    return [re.escape(text) for item in items_of(node) if (text := text_of(item))]


def _must_contain(case: _Case, stated: Stated, node: Node) -> None:
    _note_if_empty(case, stated, "must_contain")
    for pattern in _texts(stated.get("must_contain")):
        case.answer_matches(pattern, node)


def _must_not_contain(case: _Case, stated: Stated, node: Node) -> None:
    _note_if_empty(case, stated, "must_not_contain")
    for pattern in _texts(stated.get("must_not_contain")):
        case.answer_lacks(pattern, node)


def _note_if_empty(case: _Case, stated: Stated, key: str) -> None:
    """Assay's way to expect nothing, for tests that have assertions only."""
    if isinstance(node := stated.get(key), Sequence) and not node.items:
        case.note(node, "ignored", f"'{key}: []' checks nothing")


def _pattern(stated: Stated) -> str:
    flags = "".join(sorted({text_of(item)[:1] for item in items_of(stated.get("flags"))} & set("imsx")))
    pattern = text_of(stated.get("pattern"))
    return pattern if not flags or pattern.startswith(f"(?{flags})") else f"(?{flags}){pattern}"


def _regex_match(case: _Case, stated: Stated, node: Node) -> None:
    case.answer_matches(_pattern(stated), node)


def _regex_not_match(case: _Case, stated: Stated, node: Node) -> None:
    case.answer_lacks(_pattern(stated), node)


def _json_schema(case: _Case, stated: Stated, node: Node) -> None:
    if text_of(stated.get("schema_file")):
        found = _document(case, stated["schema_file"])
        if found is not None:
            case.state("correctness", "json_schema", plain(found), node)
        return
    try:
        case.state("correctness", "json_schema", json_of(text_of(stated.get("json_schema"))), node)
    except ValueError as error:
        case.note(node, "lost", f"'json_schema' is no JSON ({error}), so it is not checked")


def _judged(rule: Callable[[Stated], str]) -> Callable[[_Case, Stated, Node], None]:
    def expect(case: _Case, stated: Stated, node: Node) -> None:
        least = case.number(stated.get("min_score") or stated.get("threshold"), 0.5)
        case.judge(rule(stated), least, node)
        kind = text_of(stated.get("type"))
        case.note(node, "changed", f"'{kind}' is asked of an LLM judge, which needs 'judge_config'")

    return expect


def _criteria(stated: Stated) -> str:
    return json.dumps(plain(stated["judge_criteria"]), ensure_ascii=False) if "judge_criteria" in stated else ""


def _faithfulness(case: _Case, stated: Stated, node: Node) -> None:
    score = stated.get("min_score")
    case.state("correctness", "hallucination_check", {"threshold": score} if score else True, node)
    case.note(node, "changed", "'faithfulness' is asked of an LLM judge, which needs 'judge_config'")


def _args_valid(case: _Case, stated: Stated, node: Node) -> None:
    policy = stated.get("policy") or stated.get("schema")
    if policy is None:
        case.note(node, "lost", "'args_valid' without 'policy' or 'schema' checks nothing")
        return
    case.test("args_valid", node, policy=policy, **({"tools": [stated["tool"]]} if "tool" in stated else {}))


def _sequence_valid(case: _Case, stated: Stated, node: Node) -> None:
    policy = stated.get("policy")
    if isinstance(policy, Scalar):
        policy = _document(case, policy)
    rules = rules_of(stated.get("rules"), {}, case.draft)
    if "sequence" in stated:
        rules.append(sequence_rule(stated["sequence"]))
    if isinstance(policy, Mapping):
        stated_there = policy.get("sequences") or policy.get("rules")
        rules += rules_of(made(plain(stated_there), node) if stated_there else None, aliases_of(policy), case.draft)
    case.add("expected_behaviors", *rules, at=node)


def _document(case: _Case, node: Node) -> Mapping | None:
    """The document in a file that a test names, within the root; None, with a note, where it cannot be read."""
    path = (case.draft.path.parent / text_of(node)).resolve()
    try:
        if not path.is_relative_to(find_root(None, case.draft.path)):
            raise SuiteError(Problem("it is outside the root"))
        document, _ = Documents().read(path, text_of(node))
    except SuiteError as error:
        case.note(node, "lost", f"what '{text_of(node)}' states is not checked: {error}")
        return None
    return document if isinstance(document, Mapping) else None


def _tool_blocklist(case: _Case, stated: Stated, node: Node) -> None:
    blocked = stated.get("blocked") or entries_of(stated.get("policy")).get("blocked")
    for item in items_of(blocked):
        case.add("must_not", {"tool_called": item}, at=item)


def _tool(stated: Stated) -> Node | None:
    return stated.get("tool") or stated.get("tool_name")


def _must_call(case: _Case, stated: Stated, node: Node) -> None:
    least, most = stated.get("min_calls"), stated.get("max_calls")
    if most is not None and text_of(most) == "0":
        _must_not_call(case, stated, node)
        return
    words: dict[str, Any] = {"type": "count", "min": least} if least is not None else {"type": "require"}
    if most is not None:
        words = {"type": "count", **({"min": least} if least is not None else {}), "max": most}
    case.add("expected_behaviors", made({**words, "tool": _tool(stated)}, node), at=node)


def _must_not_call(case: _Case, stated: Stated, node: Node) -> None:
    case.add("must_not", {"tool_called": _tool(stated)}, at=node)


def _tool_sequence(case: _Case, stated: Stated, node: Node) -> None:
    others = stated.get("allow_other_tools")
    if others.value is True if isinstance(others, Scalar) else text_of(stated.get("mode")) not in ("", "exact"):
        case.add("expected_behaviors", sequence_rule(stated.get("sequence") or made([], node)), at=node)
    else:
        calls = {"calls": items_of(stated.get("sequence")), "mode": "exact"}
        case.state("path", "expected_calls", calls, node)


def _arg_match(case: _Case, stated: Stated, node: Node) -> None:
    argument, pattern = text_of(stated.get("argument")), stated.get("regex") or stated.get("pattern")
    selector = {"tool": _tool(stated), "args": {argument: {"$regex": pattern}}}
    case.add("expected_behaviors", {"tool_called": selector}, at=node)


def _no_tool_errors(case: _Case, stated: Stated, node: Node) -> None:
    case.add("must_not", {"tool_called": {"failed": True}, "name": "a tool call failed"}, at=node)


def _max_steps(case: _Case, stated: Stated, node: Node) -> None:
    case.add("expected_behaviors", made({"type": "count", "tool": "*", "max": stated.get("max")}, node), at=node)
    case.note(node, "weaker", "'trace_max_steps' counts tool calls here, without model calls")


_EXPECTED: dict[str, Callable[[_Case, Stated, Node], None]] = {
    "must_contain": _must_contain,
    "must_not_contain": _must_not_contain,
    "regex_match": _regex_match,
    "regex_not_match": _regex_not_match,
    "json_schema": _json_schema,
    "semantic_similarity_to": _judged(
        lambda stated: f"Means the same as: {text_of(stated.get('semantic_similarity_to') or stated.get('text'))}"
    ),
    "judge_criteria": _judged(_criteria),
    "faithfulness": _faithfulness,
    "relevance": _judged(lambda stated: "Is relevant to the question and answers it."),
    "args_valid": _args_valid,
    "schema": _args_valid,
    "sequence_valid": _sequence_valid,
    "sequence": _sequence_valid,
    "tool_blocklist": _tool_blocklist,
}
_ASSERTED: dict[str, Callable[[_Case, Stated, Node], None]] = {
    "trace_must_call_tool": _must_call,
    "trace_must_not_call_tool": _must_not_call,
    "trace_tool_sequence": _tool_sequence,
    "trace_max_steps": _max_steps,
    "trace_tool_arg_match": _arg_match,
    "trace_no_tool_errors": _no_tool_errors,
    "args_valid": _args_valid,
    "sequence_valid": _sequence_valid,
    "tool_blocklist": _tool_blocklist,
}
