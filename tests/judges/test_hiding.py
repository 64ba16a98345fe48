"""What reports hide, judges are not told: the values of calls, wherever in a question they come back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest
from tests.judges.questions import question

from passmuster.checks._evidence import evidence
from passmuster.checks._question import Question
from passmuster.judges._cache import cache_key
from passmuster.judges._config import Member
from passmuster.judges._prompts import prompt_for
from passmuster.judges._redact_quotes import hidden
from passmuster.redaction._redactor import Redactor
from passmuster.traces._model import ToolCall, Trace

WORD = "hunter2xyz"


def record(tool: str = "login", **fields: Any) -> str:
    return json.dumps({"tool": tool, **fields})


def told(asked: Question) -> str:
    return prompt_for(asked).user


SHAPES: list[dict[str, Any]] = [
    {"password": WORD},
    {"password": {"value": WORD}},
    {"password": [WORD]},
    {"env": [{"name": "DB_PASSWORD", "value": WORD}]},
    {"headers": [{"key": "X-Api-Key", "value": {"text": WORD}}]},
    {"authorization": {"value": f"Bearer {WORD}"}},
]


@pytest.mark.parametrize("part", ["arguments", "result", "error"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("named", [(), ("pay.card",)], ids=["", "the suite names arguments"])
def test_what_stands_under_a_secret_name_is_hidden_everywhere(
    shape: dict[str, Any], part: str, named: tuple[str, ...]
) -> None:
    asked = question(
        f"It is {WORD}.",
        query=f"Is it {WORD}?",
        rule=f"Says {WORD}.",
        context=f"{WORD}!",
        evidence=(json.dumps({"tool": "login", part: shape}), record(result=f"was {WORD}")),
    )
    safe = hidden(asked, Redactor(arguments=named))
    assert WORD not in told(safe)
    assert safe.answer == "It is [hidden #1]."


@pytest.mark.parametrize("shape", SHAPES)
def test_what_the_judge_is_not_told_of_does_not_reach_it_in_the_answer(shape: dict[str, Any]) -> None:
    safe = hidden(question(f"It is {WORD}.", unsent=(record(arguments=shape),)), Redactor())
    assert (safe.answer, safe.unsent) == ("It is [hidden #1].", ())


@pytest.mark.parametrize(
    ("written", "word"),
    [
        (r'"ab\/cd\/efgh"', "ab/cd/efgh"),
        (r'"stra\u00DFe-7"', "straße-7"),
        (r'"a\"quoted\"b"', 'a"quoted"b'),
        (r'"back\\slash"', "back\\slash"),
        ("41111111.50", "41111111.50"),
        ("1" * 5000, "1" * 5000),
    ],
)
def test_a_secret_is_found_however_it_is_written(written: str, word: str) -> None:
    asked = question(f"It is {word}!", evidence=(f'{{"tool":"t","result":{{"password":[{written}]}}}}',))
    safe = hidden(asked, Redactor())
    assert safe.answer == "It is [hidden #1]!"
    assert "[hidden #" in safe.evidence[0]
    assert word not in safe.evidence[0]
    assert written.strip('"') not in safe.evidence[0]


def test_a_short_word_is_hidden_in_its_own_record_only() -> None:
    asked = question("It costs 7.", evidence=(record(arguments={"pin": {"secret": 7}, "n": 77}), record(result=7)))
    safe = hidden(asked, Redactor())
    assert json.loads(safe.evidence[0].replace("[hidden #1]", "0"))["arguments"] == {"pin": {"secret": 0}, "n": 77}
    assert (safe.evidence[1], safe.answer) == (asked.evidence[1], "It costs 7.")


def test_what_holds_no_secret_is_sent_as_it_is() -> None:
    asked = question(evidence=(r'{"tool":"t", "result":"a\/b \u00e9"}', "no JSON", "[1]"))
    assert hidden(asked, Redactor()) == asked


def test_numbers_that_the_usual_encoder_refuses_hide_nothing_from_the_eye() -> None:
    big = {"password": {"value": WORD}, "n": 10**30}
    huge = {"password": {"value": WORD}, "n": 10**5000}
    trace = Trace(steps=(ToolCall("login", arguments=big), ToolCall("login", arguments=huge)))
    first, second = hidden(question(WORD, evidence=evidence(trace)), Redactor()).evidence
    assert json.loads(first)["arguments"] == {"password": {"value": "[hidden #1]"}, "n": 10**30}
    assert WORD not in second


KEY = """
from tests.judges.test_hiding import key_of, question, record
words = [f"secret-{number}" for number in range(300)]
evidence = tuple(record(arguments={"token": {"v": word}}) for word in words)
print(key_of(question(" ".join(words), evidence=evidence)))
"""


def key_of(asked: Question) -> str:
    safe = hidden(asked, Redactor())
    return cache_key(safe, prompt_for(safe), Member(provider="openai", model="m"))


def test_every_process_finds_the_same_key() -> None:
    def key(seed: str) -> str:
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-c", KEY], env=env, capture_output=True, text=True, check=True).stdout

    assert key("1") == key("2")


def test_the_key_does_not_depend_on_what_is_not_sent() -> None:
    assert key_of(question()) == key_of(question(unsent=(record(arguments={"password": WORD}),)))


def test_time_grows_with_the_calls_and_not_with_their_square() -> None:
    def seconds(calls: int) -> float:
        words = [f"4111-{number:012}-card" for number in range(calls)]
        asked = question("Paid.", evidence=tuple(record("pay", arguments={"card": word}) for word in words))
        start = time.process_time()
        safe = hidden(asked, Redactor(arguments=["pay.card"]))
        spent = time.process_time() - start
        assert "4111-" not in told(safe)
        return spent

    seconds(100)
    # Eight times the calls take about eight times as long; a search for each word in each call took sixty times.
    assert seconds(8000) < 25 * max(seconds(1000), 0.01)
