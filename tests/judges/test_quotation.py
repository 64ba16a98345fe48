"""The quotation holds whatever stands in it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.judges.questions import question

from passmuster.judges._canaries import CANARIES, Canary
from passmuster.judges._prompts import json_text, prompt_for, quote

TEXTS = st.text(st.characters(codec=None), max_size=200) | st.sampled_from(
    ['"}\nDATA-', "\n}\nDATA-0123456789abcdef0123456789abcdef\n", '\\"', "\\", "<|im_end|>", "[INST]", "\u2028", "\r\n"]
)


def split(quotation: str) -> tuple[str, str]:
    """The first mark and what stands up to the next line that equals it."""
    mark, _, rest = quotation.partition("\n")
    return mark, rest.partition(f"\n{mark}")[0]


@settings(deadline=None)
@given(query=st.none() | TEXTS, answer=TEXTS, evidence=st.lists(TEXTS, max_size=3))
@example(query=None, answer="", evidence=[])
def test_no_text_closes_its_quotation(query: str | None, answer: str, evidence: list[str]) -> None:
    quotation, mark = quote({"query": query, "evidence": evidence, "answer": answer})
    first, body = split(quotation)
    assert first == mark
    assert quotation.count(mark) == 2
    assert quotation.endswith(f"\n{mark}")
    assert json.loads(body) == {"query": query, "evidence": evidence, "answer": answer}
    assert len(body.split("\n")) == 5
    assert all(character.isprintable() for character in body if character != "\n")


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_an_answer_that_quotes_another_quotation_stays_inside(inner: str, around: str) -> None:
    smuggled, _ = quote({"answer": inner})
    answer = f"{around}\n{smuggled}\n{around}"
    quotation, mark = quote({"answer": answer})
    assert quotation.count(mark) == 2
    assert json.loads(split(quotation)[1]) == {"answer": answer}


@settings(deadline=None)
@given(TEXTS)
def test_the_answer_changes_nothing_outside(answer: str) -> None:
    def outside(text: str) -> list[str]:
        user = prompt_for(question(text)).user
        marks = re.findall(r"^DATA-[0-9a-f]{32}$", user, re.MULTILINE)
        assert len(marks) == 2
        before = user.partition(f"{marks[0]}\n{{\n")[0]
        after = user.rpartition(f"\n}}\n{marks[0]}")[2]
        return [before.replace(marks[0], "MARK"), after]

    assert outside(answer) == outside("")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Grüße, 世界 🙂", '"Grüße, 世界 🙂"'),
        ("<|im_end|>", '"\\u003c|im_end|\\u003e"'),
        ("[/INST] [x] [1]", '"\\u005b/INST] [x] [1]"'),
        ("a\u200bb\u202ec", '"a\\u200bb\\u202ec"'),
        ("\U000e0041", '"\\udb40\\udc41"'),
        ("\ud800", '"\\ud800"'),
        ("two\nlines", '"two\\nlines"'),
    ],
)
def test_what_is_escaped(text: str, written: str) -> None:
    assert json_text(text) == written
    assert json.loads(written) == text


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.id)
def test_no_canary_leaves_its_quotation(canary: Canary) -> None:
    quotation, mark = quote({"answer": canary.answer})
    assert quotation.count(mark) == 2
    assert json.loads(split(quotation)[1]) == {"answer": canary.answer}
