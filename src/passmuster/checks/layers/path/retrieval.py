"""The check `retrieval`."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from passmuster.checks._json_values import MISSING
from passmuster.checks._outcome import FAIL, PASS, SKIP, Outcome, Violation
from passmuster.checks._view import View, result_of
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.suite import (
    BOOLEAN,
    PHRASE,
    TOOL_PATTERN,
    WHOLE,
    Key,
    Mapping,
    Mistake,
    OneOrMore,
    Record,
    RecordOf,
    glob_matcher,
)

_REFUSALS = (
    *("i don't know", "i do not know", "i couldn't find", "i could not find", "no information", "not able to find"),
    *("unable to find", "don't have information", "do not have information", "cannot answer", "can't answer"),
)


class Retrieval(Record, frozen=True, kw_only=True):
    """What a retriever has to return."""

    tool: Annotated[str, TOOL_PATTERN, Key("The retriever: a tool name or pattern.", example="search_docs")]
    forbid_empty: Annotated[
        bool, BOOLEAN, Key("Whether an answer that is no refusal needs a result of the retriever that is not empty.")
    ] = False
    min_results: Annotated[
        int | None, WHOLE, Key("How many results it returns at least; undecided where they are no list.", example=1)
    ] = None
    expected_sources: Annotated[
        tuple[str, ...], OneOrMore(PHRASE), Key("Texts that occur in its results, in any case.", example=["faq.md"])
    ] = ()
    facts: Annotated[
        tuple[str, ...], OneOrMore(PHRASE), Key("Texts of which the share that its results contain is reported.")
    ] = ()
    empty_markers: Annotated[
        tuple[str, ...], OneOrMore(PHRASE), Key("Results that count as empty.", example=["No results found"])
    ] = ()
    refusal_markers: Annotated[
        tuple[str, ...], OneOrMore(PHRASE), Key("Texts that make an answer a refusal, instead of common ones.")
    ] = _REFUSALS

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """Something has to be asked of the retriever."""
        if not any(key in map_ for key in ("forbid_empty", "min_results", "expected_sources", "facts")):
            yield map_, "asks nothing; add 'forbid_empty', 'min_results' or 'expected_sources'"


def _compile(wanted: Retrieval, context: Context) -> LayerCheck:
    fits = glob_matcher(wanted.tool)

    def results(view: View) -> list[Any] | None:
        """What the retriever returned, call by call; None where it was not called or its results are unknown."""
        found = [result_of(call) for call in view.calls if fits(call.tool)]
        return found if found and all(one is not MISSING for one in found) else None

    def faults(view: View) -> Iterator[str | None]:
        """What is wrong, in words; None for what cannot be decided."""
        found = results(view)
        if found is None:
            yield None
            return
        text = _text(found)
        if wanted.forbid_empty and all(_is_empty(one, wanted) for one in found) and _answers(view, wanted):
            yield f"{wanted.tool} returned nothing, and the answer is no refusal"
        if wanted.min_results is not None:
            lists = [items for one in found if (items := _items(one)) is not None]
            if len(lists) < len(found):
                yield None
            elif (count := sum(map(len, lists))) < wanted.min_results:
                yield f"{wanted.tool} returned {count} results, expected at least {wanted.min_results}"
        missing = [source for source in wanted.expected_sources if source.lower() not in text]
        if missing:
            yield f"{', '.join(map(repr, missing))} not in the results of {wanted.tool}"

    def decide(view: View) -> Outcome:
        found = list(faults(view))
        if any(found):
            return FAIL
        return SKIP if found else PASS

    def message(view: View) -> str:
        found = list(faults(view))
        if wrong := [fault for fault in found if fault]:
            return "; ".join(wrong)
        if found:
            return f"unknown: {wanted.tool} was not called, or its results are not recorded as a list"
        return f"{wanted.tool} returned what is expected{_share(wanted.facts, _text(results(view) or []))}"

    return LayerCheck(decide, message, lambda view: _violations(view, fits, message(view)))


def _violations(view: View, fits: Any, message: str) -> Iterator[Violation]:
    call = next((place for place, name in enumerate(view.names) if fits(name)), None)
    yield view.violation(call, message=message, tool=None if call is None else view.names[call])


def _share(facts: tuple[str, ...], text: str) -> str:
    if not facts:
        return ""
    return f"; {sum(fact.lower() in text for fact in facts)} of {len(facts)} facts are in the results"


def _text(results: list[Any]) -> str:
    """All that was returned, in lower case: text as it is, other values as JSON."""
    return "\n".join(one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in results).lower()


def _items(result: Any) -> list[Any] | None:
    """The results as a list, also where they are JSON text."""
    if isinstance(result, str):
        try:
            result = msgspec.json.decode(result)
        except (msgspec.DecodeError, RecursionError):
            return None
    return result if isinstance(result, list) else None


def _is_empty(result: Any, wanted: Retrieval) -> bool:
    if isinstance(result, str):
        markers = {marker.strip().lower() for marker in wanted.empty_markers}
        return result.strip().lower() in {"", "[]", "null", *markers}
    return result is None or result == [] or result == {}


def _answers(view: View, wanted: Retrieval) -> bool:
    """Whether there is an answer that is no refusal."""
    return bool(view.lowered_answer.strip()) and not any(
        marker.lower() in view.lowered_answer for marker in wanted.refusal_markers
    )


KEY = LayerKey(
    RecordOf(Retrieval),
    "What a retriever has to return: results that are not empty, enough of them, from expected sources.",
    _compile,
    order=11,
    example={"tool": "search_docs", "min_results": 1},
)
