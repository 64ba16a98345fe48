"""Questions through the real SDKs to a judge on this machine."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.judges.loopback import Asked, Behaviour, Refuses, Says, closed_address, loopback, scored
from tests.judges.questions import question

from passmuster.checks._question import JudgeFailure, Question, Verdict
from passmuster.judges._asking import ask_all
from passmuster.judges._cache import CacheError, load
from passmuster.judges._config import JudgeConfig
from passmuster.redaction._redactor import Redactor

PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])
SECRET = "sk-proj-" + "a1B2c3D4" * 4


def failure(given: object) -> str:
    assert isinstance(given, JudgeFailure)
    return given.message


@PROVIDERS
def test_a_verdict_through_the_sdk(provider: str) -> None:
    with loopback(scored(4, "Names the period.")) as judge:
        verdicts = ask_all([question()], judge.config(provider), "live", None)
    assert verdicts == [Verdict(score=4, reason="Names the period.")]
    assert len(judge.asked) == 1
    assert judge.asked[0].quoted == {"query": "How long?", "answer": "Within 30 days."}


def test_what_is_sent_to_openai() -> None:
    with loopback(scored(4)) as judge:
        config = judge.config("openai", temperature=0.3, max_tokens=99)
        ask_all([question()], config, "live", None, environment={"OPENAI_API_KEY": " key-1\n"})
    asked = judge.asked[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer key-1"
    assert {key: asked.body[key] for key in ("model", "temperature", "max_tokens")} == {
        "model": "loop-1",
        "temperature": 0.3,
        "max_tokens": 99,
    }
    assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["reason", "score"]
    assert asked.body["response_format"]["json_schema"]["strict"] is True


def test_what_is_sent_to_anthropic() -> None:
    with loopback(scored(4)) as judge:
        config = judge.config("anthropic", temperature=0.3, max_tokens=99, api_key_env="MY_KEY")
        ask_all([question()], config, "live", None, environment={"MY_KEY": "key-2", "ANTHROPIC_API_KEY": "other"})
    asked = judge.asked[0]
    assert asked.path == "/v1/messages"
    assert "key-2" in asked.headers.get("authorization", "") + asked.headers.get("x-api-key", "")
    assert "other" not in str(asked.headers)
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.3, 99)
    assert asked.body["tool_choice"]["name"] == asked.body["tools"][0]["name"] == "verdict"
    assert asked.body["tools"][0]["input_schema"]["required"] == ["reason", "score"]


@PROVIDERS
def test_a_model_without_temperature_or_structured_answers(provider: str) -> None:
    with loopback(Says(text='{"score": 2, "reason": "r"}')) as judge:
        config = judge.config(provider, temperature=None, structured=False)
        assert ask_all([question()], config, "live", None) == [Verdict(score=2, reason="r")]
    assert not {"temperature", "tools", "tool_choice", "response_format"} & judge.asked[0].body.keys()


@PROVIDERS
def test_a_server_that_ignores_the_form_may_answer_in_text(provider: str) -> None:
    with loopback(Says(text='```json\n{"score": 2, "reason": "r"}\n```')) as judge:
        assert ask_all([question()], judge.config(provider), "live", None) == [Verdict(score=2, reason="r")]


LIES: list[tuple[Says, str]] = [
    (scored("5"), "its `score` was not a whole number"),
    (scored(4.5), "its `score` was not a whole number"),
    (scored(True), "its `score` was not a whole number"),
    (scored(11), "its `score` was not a whole number"),
    (scored(0), "its `score` was not a whole number"),
    (scored(5, ""), "its `reason` was not a text"),
    (Says({"verdict": "pass", "reason": "r"}), "its `score` was not a whole number"),
    (Says([5]), "it was not a JSON object"),
    (Says(text="I would give it 5 of 5."), "it was not a JSON object"),
    (Says(text='As it says: {"score": 5, "reason": "planted"}'), "it was not a JSON object"),
    (Says(text=""), "it was empty"),
]


@PROVIDERS
@pytest.mark.parametrize(("lie", "fault"), LIES)
def test_what_is_no_verdict_is_asked_again_then_an_error(provider: str, lie: Says, fault: str) -> None:
    with loopback(lie) as judge:
        found = failure(ask_all([question()], judge.config(provider), "live", None)[0])
    assert f"judge {provider}/loop-1: asked 2 times, it gave no verdict; of its last reply: {fault}" in found
    assert len(judge.asked) == 2
    assert "could not be used" not in judge.asked[0].user
    assert f"An earlier reply could not be used: {fault}" in judge.asked[1].user


@pytest.mark.parametrize(
    ("provider", "stop", "fault"),
    [
        ("openai", "length", "it was cut off by max_tokens"),
        ("openai", "content_filter", "a content filter withheld the answer"),
        ("anthropic", "max_tokens", "it was cut off by max_tokens"),
        ("anthropic", "refusal", "the model declined to answer"),
    ],
)
def test_a_verdict_that_was_stopped_is_none(provider: str, stop: str, fault: str) -> None:
    with loopback(Says({"score": 5, "reason": "r"}, stop=stop)) as judge:
        assert fault in failure(ask_all([question()], judge.config(provider), "live", None)[0])


@PROVIDERS
@pytest.mark.parametrize("again", [0, 2])
def test_how_often_it_is_asked_again(provider: str, again: int) -> None:
    def mind(asked: Asked) -> Behaviour:
        return scored(3) if asked.number == 3 else scored("high")

    with loopback(mind) as judge:
        found = ask_all([question()], judge.config(provider, ask_again=again), "live", None)[0]
    assert len(judge.asked) == again + 1
    assert isinstance(found, Verdict) == (again == 2)


@PROVIDERS
@pytest.mark.parametrize(("score", "label"), [(1, "pass"), (5, "fail")])
def test_the_score_alone_counts(provider: str, score: int, label: str) -> None:
    with loopback(Says({"score": score, "reason": "r", "verdict": label, "passed": label == "pass"})) as judge:
        found = ask_all([question()], judge.config(provider), "live", None)[0]
    assert isinstance(found, Verdict)
    assert found.score == score


def by_answer(asked: Asked) -> Behaviour:
    """A judge that gives the score that the answer begins with."""
    return scored(int(asked.quoted["answer"][0]))


def test_order_is_kept_and_equal_questions_are_asked_once() -> None:
    answers = ["3 a", "1 b", "3 a", "5 c", "1 b", "2 d"]
    with loopback(by_answer) as judge:
        found = ask_all([question(answer) for answer in answers], judge.config(), "live", None)
    assert [verdict.score for verdict in found if isinstance(verdict, Verdict)] == [3, 1, 3, 5, 1, 2]
    assert len(judge.asked) == 4


@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrency_is_bounded_and_used(concurrency: int) -> None:
    with loopback(Says({"score": 3, "reason": "r"}, delay=0.05)) as judge:
        config = judge.config(concurrency=concurrency)
        ask_all([question(str(number)) for number in range(9)], config, "live", None)
    assert judge.most_at_once == concurrency
    assert len(judge.asked) == 9


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    with loopback(scored(3)) as judge:
        questions = [question("a"), question("b"), question("a")]
        ask_all(questions, judge.config(), "live", None, lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_off_asks_nobody() -> None:
    config = JudgeConfig(provider="openai", model="m", base_url=closed_address())
    assert ask_all([question(), question("b")], config, "off", None) == [None, None]
    assert ask_all([question()], None, "off", None) == [None]


@pytest.mark.parametrize("mode", ["live", "cached"])
def test_without_a_judge_there_is_a_failure(mode: Any) -> None:
    assert "no judge is configured" in failure(ask_all([question()], None, mode, None)[0])


def test_no_questions_need_no_judge() -> None:
    config = JudgeConfig(provider="openai", model="m")
    assert ask_all([], config, "live", None, environment={}) == []


@PROVIDERS
def test_the_cache_answers_without_a_key_or_an_sdk(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(by_answer) as judge:
        config = judge.config(provider)
        first = ask_all([question("2 a"), question("4 b")], config, "live", path)
    monkeypatch.setitem(sys.modules, provider, None)
    again = ask_all([question("4 b"), question("2 a"), question("5 c")], config, "cached", path, environment={})
    assert again[:2] == first[::-1] == [Verdict(score=4, reason="Because."), Verdict(score=2, reason="Because.")]
    assert "has no verdict in verdicts.jsonl: run once with --judge live and a key" in failure(again[2])


def test_the_cache_comes_first_and_only_the_rest_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(by_answer) as judge:
        ask_all([question("2 a")], judge.config(), "live", path)
        ask_all([question("2 a"), question("3 b")], judge.config(), "live", path)
    assert [asked.quoted["answer"] for asked in judge.asked] == ["2 a", "3 b"]
    assert len(load(path)) == 2


def test_a_miss_says_how_to_fill_the_cache(tmp_path: Path) -> None:
    config = JudgeConfig(provider="openai", model="m")
    assert "name one as `cache` in judge_config" in failure(ask_all([question()], config, "cached", None)[0])
    missing = tmp_path / "none.jsonl"
    assert "there is no file of verdicts none.jsonl" in failure(ask_all([question()], config, "cached", missing)[0])


def test_failures_are_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"

    def mind(asked: Asked) -> Behaviour:
        return Refuses(400) if asked.quoted["answer"] == "x" else scored(3)

    with loopback(mind) as judge:
        ask_all([question("x"), question("y")], judge.config(), "live", path)
    assert len(load(path)) == 1


def test_a_damaged_cache_stops_before_anything_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text("<<<<<<< HEAD\n")
    with loopback(scored(3)) as judge, pytest.raises(CacheError):
        ask_all([question()], judge.config(), "live", path)
    assert judge.asked == []


def test_a_cache_that_cannot_be_written_is_noted_and_changes_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl.lock").mkdir()
    notes: list[str] = []
    with loopback(scored(3)) as judge:
        config = judge.config()
        found = ask_all([question()], config, "live", tmp_path / "v.jsonl", note=notes.append)
    assert isinstance(found[0], Verdict)
    assert len(notes) == 1
    assert "were not saved" in notes[0]


def test_what_was_paid_for_is_kept_when_a_run_is_broken_off(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    questions = [question(str(number)) for number in range(5)]
    with loopback(scored(3)) as judge, pytest.raises(KeyboardInterrupt):
        ask_all(questions, judge.config(concurrency=1), "live", path, stop)
    assert len(load(path)) == 2


def everywhere(secret: str) -> Question:
    return question(
        f"The key is {secret}, keep it.",
        query=f"What is {secret}?",
        rule=f"Does not say {secret}.",
        context=f"{secret} is a secret.",
        evidence=(json.dumps({"api_key": secret}),),
        kind="hallucination_check",
    )


@PROVIDERS
def test_secrets_reach_neither_the_judge_nor_the_cache(provider: str, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(scored(2, f"It repeats {SECRET} and badge-77.")) as judge:
        redactor = lambda: Redactor(patterns=[r"badge-\d+"])  # noqa: E731
        found = ask_all([everywhere(SECRET)], judge.config(provider), "live", path, new_redactor=redactor)[0]
    assert isinstance(found, Verdict)
    for text in (json.dumps(judge.asked[0].body), path.read_text(), found.reason):
        assert SECRET not in text
        assert "[hidden #1]" in text
    assert "badge-77" not in found.reason + path.read_text()


def test_the_key_does_not_depend_on_the_questions_before(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    other = "sk-proj-" + "z9Y8x7W6" * 4
    with loopback(scored(2)) as judge:
        ask_all([everywhere(other), everywhere(SECRET)], judge.config(), "live", path)
        found = ask_all([everywhere(SECRET)], judge.config(), "cached", path)
    assert isinstance(found[0], Verdict)


def test_the_cache_holds_no_whole_answer(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    answer = "The customer lives at 12 Harbour Street and owes 300 euros since May."
    with loopback(scored(2, f"It says: {answer}")) as judge:
        ask_all([question(answer)], judge.config(), "live", path)
    assert answer not in path.read_text()
    assert "It says: [the answer]" in path.read_text()
    assert next(iter(load(path).values())).hint == "States the refund period. | How long?"


@pytest.mark.parametrize("answer", ["\ud800 lone", "\x00", "🙂" * 5, ""])
@PROVIDERS
def test_any_text_can_be_asked_about(provider: str, answer: str, tmp_path: Path) -> None:
    with loopback(scored(2, "odd \ud800")) as judge:
        found = ask_all([question(answer)], judge.config(provider), "live", tmp_path / "v.jsonl")
    assert isinstance(found[0], Verdict)
    assert judge.asked[0].quoted["answer"] == answer
    assert len(load(tmp_path / "v.jsonl")) == 1


def test_it_runs_inside_a_running_event_loop() -> None:
    async def notebook() -> object:
        return ask_all([question()], judge.config(), "live", None)[0]

    with loopback(scored(4)) as judge:
        assert isinstance(asyncio.run(notebook()), Verdict)


@PROVIDERS
def test_a_missing_key_or_sdk_is_named(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = JudgeConfig.from_mapping({"provider": provider, "model": "m"})
    variable = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}[provider]
    found = ask_all([question("a"), question("b")], config, "live", None, environment={})
    assert {f"set the environment variable {variable}" in failure(one) for one in found} == {True}
    named = JudgeConfig.from_mapping({"provider": provider, "model": "m", "base_url": "http://x", "api_key_env": "K"})
    assert "environment variable K," in failure(ask_all([question()], named, "live", None, environment={})[0])
    monkeypatch.setitem(sys.modules, provider, None)
    missing = failure(ask_all([question()], config, "live", None, environment={variable: "k"})[0])
    assert f"its SDK is not installed: pip install 'passmuster[{provider}]'" in missing


def test_importing_the_room_imports_no_sdk_and_no_event_loop() -> None:
    code = (
        "import sys; import passmuster.judges._asking, passmuster.judges._canaries; "
        "print([name for name in ('openai', 'anthropic', 'asyncio', 'httpx2') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
