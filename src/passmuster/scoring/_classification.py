"""`classification:`, where the label of an answer stands; it feeds `precision`, `recall` and `f1`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from passmuster._problems import Problem, did_you_mean
from passmuster.scoring._gate_metrics import map_of
from passmuster.suite import Classification, Node, Reader, Suite

__all__ = ["read_classification"]

_JSON_STEP = re.compile(
    r"\.(?P<name>[^\W\d][\w-]*)|\[(?P<index>[0-9]{1,9})\]|\[(?P<quote>['\"])(?P<key>.+?)(?P=quote)\]"
)


def read_classification(reader: Reader, suite: Suite, node: Node) -> Suite:
    """Which label is the positive one, and where an answer has its label."""
    at = "classification"
    map_ = map_of(reader, node, at, ("positive", "from"))
    if map_ is None:
        return replace(suite, classification=Classification(positive=""))
    reader.optional_text(map_, "description", at, empty=True)
    positive, source = reader.required(map_, "positive", at), reader.required(map_, "from", at)
    word = reader.text(positive, f"{at}.positive") if positive is not None else ""
    found = _source(reader, source, f"{at}.from") if source is not None else Classification(positive="")
    if positive is not None and (why := _why_foreign(word, found)):
        reader.problem(positive, f"{at}.positive: {why}")
    labelled = [scenario for scenario in suite.scenarios if scenario.label is not None]
    for scenario in labelled:
        if why := _why_foreign(scenario.label or "", found):
            message = f"scenario '{scenario.id}': the label {why}"
            reader.problems.append(Problem(message, reader.file, scenario.line))
    if not labelled:
        reader.problem(node, f"{at}: no scenario has a 'label', so nothing would be compared")
    return replace(suite, classification=replace(found, positive=word))


def _why_foreign(label: str, found: Classification) -> str | None:
    """Why an answer can never have this label."""
    words = found.words or ()
    if not label or not words or label.casefold() in (word.casefold() for word in words):
        return None
    return f"'{label}' is not among the words of 'classification'{did_you_mean(label, words)}"


def _source(reader: Reader, node: Node, at: str) -> Classification:
    """Where the label stands, in one of three ways."""
    ways = ("json", "regex", "words")
    map_ = map_of(reader, node, at, ways)
    entries = [entry for entry in map_ or () if entry.key in ways]
    if map_ is not None and len(entries) != 1:
        reader.problem(map_, f"{at}: needs one of 'json', 'regex' and 'words', found {len(entries) or 'none'}")
    if len(entries) != 1:
        return Classification(positive="")
    value, place = entries[0].value, f"{at}.{entries[0].key}"
    match entries[0].key:
        case "json":
            return Classification(positive="", json_path=_json_path(reader, value, place))
        case "regex":
            return Classification(positive="", regex=reader.regex(value, place))
        case _:
            return Classification(positive="", words=_words(reader, value, place))


def _json_path(reader: Reader, node: Node, at: str) -> tuple[str | int, ...]:
    """The steps of a path such as `$.result.labels[0]`."""
    text = reader.text(node, at).strip()
    steps: list[str | int] = []
    place = 1
    while text.startswith("$") and place < len(text) and (found := _JSON_STEP.match(text, place)):
        steps.append(int(found["index"]) if found["index"] else found["name"] or found["key"])
        place = found.end()
    if text and (not text.startswith("$") or place < len(text)):
        reader.expected("a path such as $.label or $.labels[0]", node, at)
    return tuple(steps)


def _words(reader: Reader, node: Node, at: str) -> tuple[str, ...]:
    words = tuple(reader.text(item, at).strip() for item in reader.one_or_more(node))
    if len(words) < 2:
        reader.problem(node, f"{at}: needs at least two words, for one says nothing about the others")
    if len({word.casefold() for word in words}) < len(words):
        reader.problem(node, f"{at}: a word is listed twice; they are looked for in any case")
    return words
