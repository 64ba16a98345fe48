"""AgentCI's specs (`agentci_spec.yaml`, `ciagent_spec.yaml`): queries with correctness, path, retrieval and cost."""

from __future__ import annotations

import re
from typing import Any

from passmuster.migration._agentci_keys import passed_over, tidied
from passmuster.migration._draft import Draft, entries_of, is_true, items_of, made, rebuilt, text_of
from passmuster.suite import Mapping, Node, Scalar, Sequence, SuiteFile, fields_of, plain

DESCRIPTION = "Specs of AgentCI (ciagent), version 2: queries with three layers."

_RUNNERS = ("runner", "conversation_runner", "conversation_adapter")
"""Functions that get the query, or the conversation so far, and return a trace or a text."""
_IGNORED = {
    **{key: f"'{key}' checks nothing; 'passmuster run --live' calls it" for key in _RUNNERS},
    "adapter": "'adapter' checks nothing; the format of traces is detected",
    "baseline_dir": "'baseline_dir' checks nothing; compare with golden traces by --baseline DIR",
    "persona_config": "'persona_config' checks nothing; only scripted turns are run",
    "staging": "'staging' checks nothing; --violations and promote keep what failed",
    **{key: f"'{key}' checks nothing" for key in ("model", "settings", "metadata", "framework")},
}
_UNHEEDED = ("persona", "goal", "max_turns", "stop_when")
_IN_ANSWER = ("expected_in_answer", "any_expected_in_answer", "not_in_answer")
_REFUTES = "The question rests on a false premise. The answer says so and corrects it; it does not go along with it."
_ARGUMENT = re.compile(r"(?:attributes\.tool\.args|attributes\.args|input_data|arguments|args)\.(.+)")
_RESULT = re.compile(r"(?:output_data|result|attributes\.tool\.result|attributes\.result)(?:\.(.+))?")


def recognize(document: Node) -> bool:
    """Queries, or conversations whose turns are plain text."""
    top = entries_of(document)
    if "tests" in top or not ("queries" in top or "scenarios" in top):
        return False
    if "queries" in top:
        return all("query" in entries_of(item) for item in items_of(top["queries"]))
    return any({"persona", "per_turn", "outcome"} & set(entries_of(item)) for item in items_of(top["scenarios"]))


def translate(document: Mapping, draft: Draft) -> Mapping:
    """The spec as a suite."""
    found: dict[str, Any] = {}
    for entry in document:
        match entry.key:
            case key if key in _IGNORED:
                draft.note(entry, "ignored", _IGNORED[key])
            case "version":
                pass  # that of AgentCI's own format
            case "defaults":
                found["defaults"] = _scenario(entry.value, draft)
            case "queries":
                found["queries"] = made([_scenario(item, draft) for item in items_of(entry.value)], entry.value)
            case "scenarios":
                talks = [_conversation(item, draft) for item in items_of(entry.value)]
                if kept := [talk for talk in talks if talk is not None]:
                    found["scenarios"] = made(kept, entry.value)
            case "judge_config":
                found["judge_config"] = _judge_config(entry.value, draft)
            case key if not passed_over(entry, fields_of(SuiteFile), draft):
                found[key] = entry.value
    if runner := _runner(document):
        found["agent"] = made({"name": found.get("agent") or made("agent", runner), "python": runner}, runner)
    return rebuilt(document, found)


def _runner(document: Mapping) -> Node | None:
    """What runs the agent live, where it is stated as here: `module:function`."""
    if isinstance(document.get("agent"), Mapping):
        return None
    stated = [document.get(key) for key in _RUNNERS]
    return next((node for node in stated if re.fullmatch(r"[\w.]+:[\w.]+", text_of(node))), None)


def _scenario(node: Node, draft: Draft) -> Node:
    """A query, the defaults, or the checks of a turn."""
    if not isinstance(node, Mapping):
        return node
    node = tidied(node, draft)
    found: dict[str, Any] = {entry.key: entry.value for entry in node}
    correctness, path = node.get("correctness"), node.get("path")
    if isinstance(correctness, Mapping):
        found["correctness"] = _correctness(correctness, draft)
    if isinstance(path, Mapping):
        found["path"] = _path(path, draft)
    retrieval = node.get("retrieval")
    if isinstance(retrieval, Mapping):
        del found["retrieval"]
        read = _retrieval(retrieval, entries_of(correctness), draft)
        if read is not None:
            kept = entries_of(found.get("path"))
            found["path"] = rebuilt(path if isinstance(path, Mapping) else retrieval, {**kept, "retrieval": read})
    spans = found.pop("span_assertions", None)
    for item in items_of(spans):
        _span_assertion(item, found, draft)
    for layer in ("correctness", "path"):
        if not entries_of(found.get(layer)) and entries_of(node.get(layer)):
            del found[layer]  # nothing of it is left
    return rebuilt(node, found)


def _correctness(node: Mapping, draft: Draft) -> Mapping:
    found: dict[str, Any] = {entry.key: entry.value for entry in node}
    for key in ("llm_judge", "safety_check", "hallucination_check"):
        if key in found:
            found[key] = _rubrics(found[key], draft)
    refutes = _flag(found, "refutes_premise")
    if refutes:
        for key in _IN_ANSWER:
            text = f"'{key}' checks nothing beside 'refutes_premise: true', which asks the judge instead"
            draft.drop(found, node, key, "ignored", text)
        asked = items_of(found.get("llm_judge"))
        rule = made({"rule": _REFUTES, "threshold": 0.7}, node.entries["refutes_premise"])
        found["llm_judge"] = made([*asked, rule], node.entries["refutes_premise"])
    return rebuilt(node, found)


def _rubrics(node: Node, draft: Draft) -> Node:
    """One rubric or a list, with examples in our words."""
    if isinstance(node, Sequence):
        return Sequence([_rubrics(item, draft) for item in node.items], node.line, node.column)
    if not isinstance(node, Mapping) or "few_shot_examples" not in node:
        return node
    found: dict[str, Any] = {entry.key: entry.value for entry in node}
    examples = []
    for item in items_of(found.pop("few_shot_examples")):
        told = entries_of(item)
        answer, score = told.get("output") or told.get("answer"), told.get("score")
        if answer is None or not isinstance(score, Scalar):
            draft.note(item, "lost", "an example without 'output' and 'score' tells the judge nothing")
            continue
        reason = told.get("rationale") or told.get("reason")
        examples.append(made({"answer": answer, "score": score, **({"reason": reason} if reason else {})}, item))
    if examples:
        found["examples"] = made(examples, node.entries["few_shot_examples"])
    return rebuilt(node, found)


def _path(node: Mapping, draft: Draft) -> Mapping:
    found: dict[str, Any] = {entry.key: entry.value for entry in node}
    key = "expected_handoffs_available"
    draft.drop(found, node, key, "lost", f"'{key}' is not checked: traces show the handoffs made, not possible ones")
    if "expected_tool_sequence" in found and "match_mode" not in found:
        found["match_mode"] = "strict"  # there the calls have to be these alone
    if draft.spell_defaults and found and "max_loops" not in found:
        found["max_loops"] = 3
    return rebuilt(node, found)


def _retrieval(node: Mapping, correctness: dict[str, Node], draft: Draft) -> Mapping | None:
    found: dict[str, Any] = {entry.key: entry.value for entry in node}
    if _flag(found, "facts_in_context"):
        facts = [item for key in _IN_ANSWER[:2] for item in items_of(correctness.get(key))]
        if facts:
            found["facts"] = made(facts, node.entries["facts_in_context"])
    text = "'result_format' checks nothing; lists and JSON are recognized"
    draft.drop(found, node, "result_format", "ignored", text)
    if isinstance(least := found.get("min_results"), Scalar) and least.value == 0:
        del found["min_results"]
    if found.keys() <= {"tool", "empty_markers", "refusal_markers"}:
        draft.note(node, "ignored", "'retrieval' asks nothing of the results")
        return None
    return rebuilt(node, found)


def _flag(found: dict[str, Any], key: str) -> bool:
    """Take out a key that is true or false; what is neither stays, for the suite's own reader to refuse."""
    node = found.get(key)
    if not isinstance(node, Scalar) or not isinstance(node.value, bool | None):
        return False
    return is_true(found.pop(key))


def _span_assertion(node: Node, found: dict[str, Any], draft: Draft) -> None:
    """Behaviors of the scenario that ask the same of its calls."""
    stated = entries_of(node)
    selector = entries_of(stated.get("selector"))
    kind, name = text_of(selector.get("kind")).upper(), text_of(selector.get("name"))
    if kind != "TOOL" or not name:
        draft.note(
            node, "lost", f"an assertion on spans of kind {kind or 'unknown'} is not checked; only tool calls are"
        )
        return
    expected = [made({"tool_called": name, "name": f"calls {name}"}, node)]
    forbidden: list[Node] = []
    for item in items_of(stated.get("asserts")):
        where, matcher = _matcher(item, draft)
        if where is None or matcher is None:
            continue
        at = f"{name}: {text_of(entries_of(item).get('field'))} {text_of(entries_of(item).get('type'))}"
        call = {"tool": name, "result": matcher} if where == "" else {"tool": name, "args": {where: matcher}}
        words = f"{at} {text_of(entries_of(item).get('value'))}"
        forbidden.append(made({"tool_called": call, "name": f"violates: {words}"}, item))
    for key, more in (("expected_behaviors", expected), ("must_not", forbidden)):
        if more:
            found[key] = made([*items_of(found.get(key)), *more], node)


def _matcher(node: Node, draft: Draft) -> tuple[str | None, Any]:
    """Where the value is that must not be so (an argument, or the result for an empty text), and how."""
    stated = entries_of(node)
    kind, field, value = (text_of(stated.get(key)) for key in ("type", "field", "value"))
    where = _place(field)
    if where is None or kind not in ("contains", "not_contains", "equals", "regex"):
        why = f"the field '{field}' is not part of a trace" if where is None else f"'{kind}' needs a judge on one span"
        draft.note(node, "lost", f"an assertion on spans is not checked: {why}")
        return None, None
    found: Any = {"$regex": value if kind == "regex" else re.escape(value)}
    if kind == "equals":
        found = {"$regex": rf"\A{re.escape(value)}\Z"}
    if kind == "not_contains":
        return where, found
    return where, {"$one_of": [{"$not": found}, {"$absent": True}]} if where else {"$not": found}


def _place(field: str) -> str | None:
    """The path of an argument; empty for the result; None for what no trace has."""
    if found := _ARGUMENT.fullmatch(field):
        return found[1]
    result = _RESULT.fullmatch(field)
    return "" if result and not result[1] else None


def _conversation(node: Node, draft: Draft) -> Node | None:
    """A scripted conversation as turns; one that a model would have to play is left out."""
    stated = entries_of(node)
    spoken = stated.get("turns")
    if not isinstance(node, Mapping) or spoken is None or any("user" in entries_of(one) for one in items_of(spoken)):
        if isinstance(node, Mapping) and spoken is None and ("persona" in node or "goal" in node):
            draft.note(node, "lost", "a conversation with a simulated user is not run; write its 'turns'")
            return None
        return node
    if any(key in stated and not isinstance(stated[key], Mapping) for key in ("per_turn", "outcome")):
        return node
    for key in _UNHEEDED:
        if key in stated:
            draft.note(node.entries[key], "ignored", f"'{key}' checks nothing; all turns are run")
    each = entries_of(_scenario(stated["per_turn"], draft)) if "per_turn" in stated else {}
    outcome = entries_of(_scenario(stated["outcome"], draft)) if "outcome" in stated else {}
    turns = [made({"user": one, **each}, one) for one in items_of(spoken)]
    name = text_of(stated.get("name")) or text_of(next(iter(items_of(spoken)), None))
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or f"conversation-{node.line}"
    handled = (*_UNHEEDED, "name", "turns", "per_turn", "outcome")
    rest: dict[str, Any] = {key: value for key, value in stated.items() if key not in handled}
    return rebuilt(node, {"id": slug, **rest, "turns": made(turns, spoken), **outcome})


def _judge_config(node: Node, draft: Draft) -> Node:
    if not isinstance(node, Mapping):
        return node
    found: dict[str, Any] = {entry.key: entry.value for entry in node}
    text = "'structured_output' checks nothing; it is asked for anyway"
    draft.drop(found, node, "structured_output", "ignored", text)
    model = text_of(found.get("model"))
    if "provider" not in found and model:
        found.update(_model(found["model"]))
    ensemble = found.pop("ensemble", None)
    if isinstance(ensemble, Mapping) and plain(ensemble.get("enabled") or made(True, ensemble)) is not True:
        draft.note(node.entries["ensemble"], "ignored", "'ensemble' is not enabled, so one judge is asked")
    elif isinstance(ensemble, Mapping) and "models" in ensemble:
        names = items_of(ensemble.get("models"))
        found["ensemble"] = made([_model(one) for one in names], ensemble)
        draft.note(ensemble, "changed", "the median of the judges' scores counts, instead of a vote")
    elif ensemble is not None:
        found["ensemble"] = ensemble
    return rebuilt(node, found)


def _model(node: Node) -> dict[str, Any]:
    """The model and its provider, which a prefix may state: `openai:gpt-4o-mini`."""
    provider, _, model = text_of(node).replace("/", ":").partition(":")
    if provider in ("openai", "anthropic") and model:
        return {"model": made(model, node), "provider": provider}
    return {"model": node, "provider": "anthropic" if text_of(node).startswith("claude") else "openai"}
