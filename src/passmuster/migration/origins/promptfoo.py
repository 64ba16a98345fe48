"""promptfoo's configs: tests with variables and assertions, about prompts that are sent to providers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from passmuster.migration._draft import Draft, entries_of, items_of, made, rebuilt, text_of
from passmuster.migration._scenario_draft import ScenarioDraft, json_of, slug, suite_of, unique
from passmuster.suite import Mapping, Node, Scalar, Sequence, plain

DESCRIPTION = "Configs of promptfoo: tests with `vars` and `assert`."

_QUERIES = ("query", "question", "input", "prompt", "message", "user_input", "task")
_JUDGED = ("llm-rubric", "model-graded-closedqa", "g-eval", "factuality", "answer-relevance", "similar", "is-refusal")
_JSON = ["object", "array", "string", "number", "boolean", "null"]
_TEST = ("vars", "assert", "description", "threshold", "options", "provider", "providers", "metadata")
_VARIABLE = re.compile(r"{{\s*(\w+)\s*}}")
_ELSEWHERE = re.compile(r"file:|\s*\[|\S+\.(?:txt|md|json|ya?ml|csv|py|js|ts)\s*\Z")
"""A prompt that is the name of a file, or a list of messages."""
_DEPTH = 2
_LONGEST = 1_000_000
_TEMPLATE = re.compile(r"{{.*?}}|{%.*?%}", re.DOTALL)
Stated = dict[str, Node]
Check = Callable[[ScenarioDraft, Stated, Node], None]


def recognize(document: Node) -> bool:
    """Tests or default assertions, beside prompts, providers or targets."""
    top = entries_of(document)
    return bool({"prompts", "providers", "targets"} & top.keys()) and bool({"tests", "defaultTest"} & top.keys())


def translate(document: Mapping, draft: Draft) -> Mapping:
    """Each test as a scenario. A run belongs to it by its query, which the test's variables tell."""
    top: dict[str, Any] = {}
    for entry in document:
        if entry.key == "description":
            top["description"] = entry.value
        elif entry.key == "scenarios":
            draft.note(entry, "lost", "'scenarios' are not carried over; write them as 'tests'")
        elif entry.key not in ("tests", "defaultTest", "prompts"):
            draft.note(entry, "ignored", f"'{entry.key}' checks nothing in recorded runs")
    default = entries_of(document.get("defaultTest"))
    if isinstance(document.get("defaultTest"), Scalar):
        draft.note(document.entries["defaultTest"], "lost", "'defaultTest' in another file is not read")
    prompts = [_prompt(item) for item in items_of(document.get("prompts"))]
    if len(prompts) > 1:
        text = (
            "runs of all prompts but the first belong to no scenario, and are not checked; migrate a config per prompt"
        )
        draft.note(document.entries["prompts"], "lost", text)
    if prompts and _ELSEWHERE.match(prompts[0]):
        text = "a prompt in a file or of several messages is not read, so runs belong to a test only by its question"
        draft.note(document.entries["prompts"], "weaker", text)
    items = [item for item in items_of(document.get("tests")) if isinstance(item, Mapping)]
    if len(items) < len(items_of(document.get("tests"))) or isinstance(document.get("tests"), Scalar):
        draft.note(document.entries["tests"], "lost", "tests in other files are not read; migrate them from one file")
    names = [_name(entries_of(item), number) for number, item in enumerate(items, 1)]
    scenarios = [
        _scenario(item, id_, default, prompts[0] if prompts else "", draft)
        for item, id_ in zip(items, unique(names), strict=True)
    ]
    return cast(Mapping, suite_of(scenarios, document, top))


def _prompt(node: Node) -> str:
    """The text of a prompt, or the file that it is in."""
    stated = entries_of(node)
    return text_of(stated.get("raw") or stated.get("id")) if stated else text_of(node)


def _name(stated: Stated, number: int) -> str:
    given = stated.get("description") or next(iter(entries_of(stated.get("vars")).values()), None)
    return slug(text_of(given), number)


def _scenario(node: Node, id_: str, default: Stated, prompt: str, draft: Draft) -> ScenarioDraft:
    stated = entries_of(node)
    variables = {**entries_of(default.get("vars")), **entries_of(stated.get("vars"))}
    found = ScenarioDraft(node, draft, id_, _query(variables, prompt) or id_)
    found.copy(stated, "description")
    found.note_others(stated, _TEST)
    if "threshold" in stated:
        found.note(stated["threshold"], "changed", "every assertion has to hold, where promptfoo takes a weighted mean")
    for key in ("options", "provider", "providers"):
        if key in stated:
            found.note(stated[key], "ignored", f"'{key}' checks nothing in recorded runs")
    for assertion in [*items_of(default.get("assert")), *items_of(stated.get("assert"))]:
        _assertion(found, _rendered(assertion, variables))
    return found


def _rendered(node: Node, variables: Stated) -> Node:
    """An assertion with the values of the test's variables in the place of their names."""
    if isinstance(node, Mapping):
        return rebuilt(node, {entry.key: _rendered(entry.value, variables) for entry in node})
    if isinstance(node, Sequence):
        return Sequence([_rendered(item, variables) for item in node.items], node.line, node.column)
    text = _filled(text_of(node), variables)
    return made(text, node) if text != text_of(node) else node


def _filled(text: str, variables: Stated) -> str:
    """A text with the values of variables in the place of their names; a value may name others."""
    for _ in range(_DEPTH):
        if len(text) > _LONGEST:
            break
        text = _VARIABLE.sub(lambda match: text_of(variables.get(match[1])) or match[0], text)
    return text


def _is_template(node: Node | None) -> bool:
    """Whether there is something in the value that only promptfoo's templates can tell."""
    if isinstance(node, Mapping):
        return any(_is_template(entry.value) for entry in node)
    if isinstance(node, Sequence):
        return any(map(_is_template, node.items))
    return _TEMPLATE.search(text_of(node)) is not None


def _query(variables: Stated, prompt: str) -> str:
    """The prompt with its variables, where all of them are known; else the variable that is the question."""
    names = _VARIABLE.findall(prompt)
    if names and all(name in variables for name in names) and not _ELSEWHERE.match(prompt):
        return _filled(prompt, variables)
    texts = {name: _filled(text_of(value), variables) for name, value in variables.items() if text_of(value)}
    return next((texts[name] for name in _QUERIES if name in texts), next(iter(texts.values()), ""))


def _assertion(found: ScenarioDraft, node: Node) -> None:
    stated = entries_of(node)
    kind = text_of(stated.get("type"))
    if kind == "assert-set":
        found.note(node, "changed", "every assertion of an 'assert-set' has to hold")
        for inner in items_of(stated.get("assert")):
            _assertion(found, inner)
        return
    negated = kind.startswith("not-")
    name = kind.removeprefix("not-")
    value = stated.get("value")
    if text_of(value).startswith(("file://", "package:")):
        found.note(node, "lost", f"'{kind}' reads its value from '{text_of(value)}', so it is not checked")
    elif _is_template(value):
        found.note(node, "lost", f"the value of '{kind}' is a template, so it is not checked")
    elif name in _JUDGED:
        _judged(found, name, stated, node, negated)
    elif check := _NEGATED.get(name) if negated else _CHECKED.get(name):
        found.carry(f"the assertion '{kind}'", node, partial(check, found, stated, node))
    else:
        found.note(node, "lost", f"the assertion '{kind}' is not checked; code and other models cannot be carried over")


def _judged(found: ScenarioDraft, name: str, stated: Stated, node: Node, negated: bool) -> None:
    value = text_of(stated.get("value"))
    rules = {
        "factuality": f"Agrees with the facts of: {value}",
        "answer-relevance": "Is relevant to the question and answers it.",
        "similar": f"Means the same as: {value}",
        "is-refusal": "Refuses to do what was asked.",
    }
    rule = rules.get(name, value)
    least = found.number(stated.get("threshold"), 0.5)
    found.judge(f"It is not the case that: {rule}" if negated else rule, least, node)
    if name in ("similar", "is-refusal", "answer-relevance"):
        found.note(node, "changed", f"'{name}' is asked of an LLM judge, which needs 'judge_config'")


def _texts(found: ScenarioDraft, stated: Stated, node: Node) -> list[str]:
    """The texts of an assertion; none where a part of its value is no text. An empty one is in every answer."""
    values = items_of(stated.get("value"))
    if not all(isinstance(item, Scalar) for item in values):
        return []
    texts = [text_of(item) for item in values]
    if text_of(stated.get("type")).endswith(("-any", "-all")) and len(texts) == 1:
        texts = [part.strip() for part in texts[0].split(",")]
    kept = [text for text in texts if text]
    if kept and len(kept) < len(texts):
        found.note(node, "changed", "an empty text is part of every answer, so it is left out")
    return kept


def _answer(form: str, *, lacks: bool = False) -> Check:
    """A check that one of the texts is in the answer, or that none is; `form` says where, with %s for the texts."""

    def check(found: ScenarioDraft, stated: Stated, node: Node) -> None:
        if texts := _texts(found, stated, node):
            pattern = form % "|".join(map(re.escape, texts))
            (found.answer_lacks if lacks else found.answer_matches)(pattern, node)

    return check


def _equals(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    if isinstance(value := stated.get("value"), Scalar):
        found.answer_matches(rf"\A{re.escape(text_of(value))}\Z", node)


def _differs(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    if isinstance(value := stated.get("value"), Scalar):
        found.answer_lacks(rf"\A{re.escape(text_of(value))}\Z", node)


def _all(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    for text in _texts(found, stated, node):
        found.answer_matches(re.escape(text), node)


def _all_in_any_case(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    found.state("correctness", "expected_in_answer", _texts(found, stated, node), node)


def _json(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    value = stated.get("value")
    try:
        schema = plain(value) if isinstance(value, Mapping) else json_of(text_of(value)) if value else {"type": _JSON}
    except ValueError:
        return
    found.state("correctness", "json_schema", schema, node)


def _tools_used(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    for item in items_of(stated.get("value")):
        words = entries_of(item)
        limits: dict[str, Any] = {key: words[key] for key in ("min", "max") if key in words}
        tool = words.get("name") or words.get("pattern") or item
        rule = {"type": "count", "tool": tool, **limits} if limits else {"type": "require", "tool": tool}
        found.add("expected_behaviors", made(rule, item), at=node)


def _tools_not_used(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    for item in items_of(stated.get("value")):
        words = entries_of(item)
        found.add("must_not", {"tool_called": words.get("name") or words.get("pattern") or item}, at=item)


def _sequence(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    words = entries_of(stated.get("value"))
    steps = items_of(words.get("steps") or stated.get("value"))
    tools = [entries_of(step).get("name") or entries_of(step).get("tool") or step for step in steps]
    if text_of(words.get("mode")) == "exact":
        found.state("path", "expected_calls", {"calls": tools, "mode": "exact"}, node)
    else:
        found.add("expected_behaviors", made({"type": "sequence", "tools": tools}, node), at=node)


def _args(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    words = entries_of(stated.get("value"))
    given = words.get("args") or words.get("arguments")
    if text_of(words.get("mode")) == "exact":
        call = {"tool": words.get("name"), "args": given, "match": "exact"}
        found.state("path", "expected_calls", {"calls": [call]}, node)
    else:
        found.add("expected_behaviors", {"tool_called": {"tool": words.get("name"), "args": given}}, at=node)


def _step_count(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    words = entries_of(stated.get("value"))
    limits: dict[str, Any] = {key: words[key] for key in ("min", "max") if key in words}
    if text_of(words.get("type")) not in ("", "tool") or not limits:
        found.note(node, "lost", "'trajectory:step-count' is only checked for tools")
        return
    rule = {"type": "count", "tool": words.get("pattern") or "*", **limits}
    found.add("expected_behaviors", made(rule, node), at=node)


def _tool_f1(found: ScenarioDraft, stated: Stated, node: Node) -> None:
    found.state("path", "expected_tools", items_of(stated.get("value")), node)
    found.state("path", "min_tool_recall", 0, node)
    found.state("path", "min_tool_f1", found.number(stated.get("threshold"), 1.0), node)


_CHECKED: dict[str, Check] = {
    "contains": _answer("%s"),
    "contains-any": _answer("%s"),
    "contains-all": _all,
    "icontains": _all_in_any_case,
    "icontains-all": _all_in_any_case,
    "icontains-any": _answer("(?i)%s"),
    "starts-with": _answer(r"\A(?:%s)"),
    "equals": _equals,
    "regex": lambda found, stated, node: found.answer_matches(text_of(stated.get("value")), node),
    "is-json": _json,
    "cost": lambda found, stated, node: found.state("cost", "max_cost_usd", stated.get("threshold"), node),
    "latency": lambda found, stated, node: found.state("cost", "max_latency_ms", stated.get("threshold"), node),
    "trajectory:tool-used": _tools_used,
    "trajectory:tool-sequence": _sequence,
    "trajectory:tool-args-match": _args,
    "trajectory:step-count": _step_count,
    "tool-call-f1": _tool_f1,
}
_NEGATED: dict[str, Check] = {
    "contains": _answer("%s", lacks=True),
    "contains-any": _answer("%s", lacks=True),
    "icontains": _answer("(?i)%s", lacks=True),
    "icontains-any": _answer("(?i)%s", lacks=True),
    "starts-with": _answer(r"\A(?:%s)", lacks=True),
    "equals": _differs,
    "regex": lambda found, stated, node: found.answer_lacks(text_of(stated.get("value")), node),
    "trajectory:tool-used": _tools_not_used,
}
