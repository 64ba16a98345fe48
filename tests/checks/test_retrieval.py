"""`path.retrieval`: what a retriever returned, and what cannot be known of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import call, judge, trace

import passmuster

DOCS = [{"source": "docs/FAQ.md", "text": "Refunds take 5 days."}, {"source": "docs/terms.md", "text": "…"}]


def status(retrieval: dict[str, Any], *results: Any, answer: str = "Refunds take 5 days.") -> tuple[str, str]:
    """The status and message of the check on one run, whose retriever returned these."""
    calls = [call("search", result=result) if result is not ... else call("search") for result in results]
    suite = {"scenarios": [{"id": "S", "path": {"retrieval": {"tool": "search", **retrieval}}}]}
    report = judge(suite, [trace(calls or [call("other")], scenario="S", answer=answer)])
    (check,) = report.scenarios[0].layers["path"].checks
    return check.status, check.message


@pytest.mark.parametrize(
    ("retrieval", "results", "expected"),
    [
        ({"min_results": 2}, [DOCS], "pass"),
        ({"min_results": 3}, [DOCS], "warn"),
        ({"min_results": 4}, [DOCS, DOCS], "pass"),
        ({"min_results": 1}, ['[{"source": "a"}]'], "pass"),
        ({"min_results": 1}, ["plain text"], "skip"),
        ({"min_results": 1}, [...], "skip"),
        ({"min_results": 1}, [], "skip"),
        ({"expected_sources": ["faq.md"]}, [DOCS], "pass"),
        ({"expected_sources": ["faq.md", "prices.md"]}, [DOCS], "warn"),
        ({"expected_sources": ["faq"]}, ["From the FAQ: 5 days"], "pass"),
        ({"forbid_empty": True}, [DOCS], "pass"),
        ({"forbid_empty": True}, [[]], "warn"),
        ({"forbid_empty": True}, ["  "], "warn"),
        ({"forbid_empty": True}, [[], DOCS], "pass"),
        ({"forbid_empty": True, "empty_markers": ["No results found"]}, ["no results found "], "warn"),
    ],
)
def test_what_it_asks(retrieval: dict[str, Any], results: list[Any], expected: str) -> None:
    assert status(retrieval, *results)[0] == expected


def test_a_refusal_needs_no_result() -> None:
    assert status({"forbid_empty": True}, [], answer="Sorry, I don't know.")[0] == "pass"
    own = {"forbid_empty": True, "refusal_markers": ["ask a colleague"]}
    assert status(own, [], answer="Sorry, I don't know.")[0] == "warn"
    assert status(own, [], answer="Please ask a colleague.")[0] == "pass"


def test_facts_are_only_reported() -> None:
    assert status({"facts": ["5 days", "euro"]}, DOCS) == (
        "pass",
        "search returned what is expected; 1 of 2 facts are in the results",
    )


def test_one_that_asks_nothing_is_refused() -> None:
    with pytest.raises(passmuster.SuiteError, match="asks nothing; add 'forbid_empty'"):
        status({}, DOCS)
