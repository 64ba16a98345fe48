"""Judges that nobody has audited can only warn, where the suite says so."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.judges.commands import Ran, by_kind, judge_config, passmuster_, run, write
from tests.judges.loopback import Asked, Behaviour, Loopback, Says, closed_address, loopback, scored

from passmuster.judges import _calibration as calibration
from passmuster.judges import _prompts as prompts
from passmuster.judges._audit import Audit, Confusion, Figure
from passmuster.judges._calibration import calibration_of, calibration_path, why_invalid
from passmuster.judges._config import JudgeConfig
from passmuster.redaction._redactor import Redactor
from passmuster.reports.formats.json import encoded

DAY = datetime.date(2026, 1, 1)
BASE: dict[str, Any] = {"provider": "openai", "model": "m", "base_url": "http://x/v1"}
NOTHING = Figure(value=None, n=0, why="not measured")


def config(**more: Any) -> JudgeConfig:
    return JudgeConfig.from_mapping({**BASE, **more})


def found(usable: bool = True) -> Audit:
    return Audit(
        labels=30,
        unanswered=0,
        confusion=Confusion(),
        agreement=Figure(value=0.9, n=30, ci95=(0.7, 1.0)),
        kappa=NOTHING,
        false_pass=NOTHING,
        false_fail=NOTHING,
        by_check={},
        against_checks={},
        flips=NOTHING,
        sway=NOTHING,
        usable=usable,
        conclusion="usable: fine." if usable else "not usable: it flips.",
    )


def saved(folder: Path, audited: JudgeConfig, usable: bool = True) -> Path:
    path = folder / "judge-calibration.json"
    kept = calibration_of("s.yaml", audited.members, found(usable), DAY, 90, Redactor())
    path.write_bytes(encoded(msgspec.to_builtins(kept)))
    return path


# ── The file ────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_saved_is_valid_for_the_same_judge(tmp_path: Path) -> None:
    path = saved(tmp_path, config())
    assert why_invalid(path, config().members, DAY) is None
    assert why_invalid(path, config(base_url="http://x/v1/").members, DAY) is None  # the same address
    patient = config(retries=0, timeout_seconds=5, cache="c.jsonl", api_key_env="K", input_usd_per_million=1)
    assert why_invalid(path, patient.members, DAY) is None


def test_the_file_holds_no_secret_and_another_key_is_no_other_judge(tmp_path: Path) -> None:
    audited = config(base_url="http://x/v1?api_key=abc123xyz")
    path = saved(tmp_path, audited)
    assert "abc123xyz" not in path.read_text()
    assert why_invalid(path, audited.members, DAY) is None
    assert why_invalid(path, config(base_url="http://x/v1?api_key=other").members, DAY) is None
    assert "address" in str(why_invalid(path, config().members, DAY))


def test_what_was_found_passes_the_redactor() -> None:
    figure = Figure(value=1.0, n=1)
    told = msgspec.structs.replace(
        found(),
        conclusion="usable: badge-7",
        no_verdict="password=hunter2",
        by_check={"shows badge-7": figure},
        against_checks={"badge-7": figure},
    )
    audit = calibration_of("s.yaml", config().members, told, DAY, 90, Redactor(patterns=[r"badge-\d"])).audit
    assert (audit.conclusion, audit.no_verdict) == ("usable: [hidden #1]", "password=[hidden #2]")
    assert (audit.by_check, audit.against_checks) == ({"shows [hidden #1]": figure}, {"[hidden #1]": figure})


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"model": "n"}, "is of other judges: model m was audited, n is configured"),
    ({"base_url": "http://y/v1"}, "address http://x/v1 was audited, http://y/v1 is configured"),
    ({"provider": "anthropic"}, "provider openai was audited, anthropic is configured"),
    ({"temperature": 0.5}, "temperature 0.0 was audited, 0.5 is configured"),
    ({"temperature": None}, "temperature 0.0 was audited, None is configured"),
    ({"max_tokens": 99}, "max_tokens 1024 was audited, 99 is configured"),
    ({"structured": False}, "structured True was audited, False is configured"),
    ({"ensemble": 3}, "1 were audited, 3 are configured"),
]


@pytest.mark.parametrize(("changes", "reason"), OTHERS)
def test_another_judge_needs_its_own(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    path = saved(tmp_path, config())
    why = why_invalid(path, config(**changes).members, DAY)
    assert why is not None
    assert reason in why


def test_it_expires(tmp_path: Path) -> None:
    path, members = saved(tmp_path, config()), config().members
    assert why_invalid(path, members, datetime.date(2026, 4, 1)) is None
    assert "expired on 2026-04-01" in str(why_invalid(path, members, datetime.date(2026, 4, 2)))


def test_any_word_of_any_prompt_makes_it_void(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, members = saved(tmp_path, config()), config().members
    for name in ("_TASKS", "_SCALES", "_DEFAULT_RULES"):
        for kind in ("llm_judge", "safety_check", "hallucination_check", "behavior"):
            with monkeypatch.context() as patch:
                patch.setitem(getattr(prompts, name), kind, "Other words.")
                assert "with other prompts" in str(why_invalid(path, members, DAY))
    with monkeypatch.context() as patch:
        patch.setattr(prompts, "_FORM", "Other words.")
        assert "with other prompts" in str(why_invalid(path, members, DAY))
    monkeypatch.setattr(calibration, "PROMPT_VERSION", 2)
    assert "with other prompts" in str(why_invalid(path, members, DAY))


def test_a_judge_that_is_not_usable_is_not_made_so_by_a_file(tmp_path: Path) -> None:
    path = saved(tmp_path, config(), usable=False)
    assert "says: not usable: it flips." in str(why_invalid(path, config().members, DAY))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is damaged"),
        (b"{}", "is damaged"),
        (b"[]", "is damaged"),
        (b"\xff\xfe", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b'{"schema": 7}', "is damaged"),
    ],
)
def test_a_damaged_file_vouches_for_nobody(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "judge-calibration.json"
    path.write_bytes(content)
    assert reason in str(why_invalid(path, config().members, DAY))


def test_a_file_of_another_form_vouches_for_nobody(tmp_path: Path) -> None:
    path = saved(tmp_path, config())
    path.write_text(path.read_text().replace("passmuster.calibration/1", "passmuster.calibration/2"))
    assert "has the schema 'passmuster.calibration/2'" in str(why_invalid(path, config().members, DAY))
    assert "there is no calibration" in str(why_invalid(tmp_path / "none.json", config().members, DAY))
    assert "cannot be read" in str(why_invalid(tmp_path, config().members, DAY))


def test_where_it_is_kept(tmp_path: Path) -> None:
    assert calibration_path(config(), tmp_path) == tmp_path / "judge-calibration.json"
    assert calibration_path(config(calibration="k/c.json"), tmp_path) == tmp_path / "k" / "c.json"


# ── In a run ────────────────────────────────────────────────────────────────────────────────────────────────

SCENARIO = {"id": "S", "correctness": {"expected_in_answer": "hello", "llm_judge": "r", "safety_check": True}}
TRACE = {"scenario": "S", "trace_id": "t", "answer": "Hello."}


def judged(folder: Path, judge: Loopback, *options: str, scenario: dict[str, Any] = SCENARIO, **more: Any) -> Ran:
    trace = more.pop("trace", TRACE)
    write(folder, judge_config(judge, require_calibration=True, cache=False), [scenario], [trace], **more)
    return run(folder, "--today", "2026-01-01", *options)


def vouch(folder: Path, judge: Loopback, usable: bool = True) -> None:
    saved(folder, JudgeConfig.from_mapping(judge_config(judge)), usable)


def test_a_judge_without_a_calibration_can_only_warn(tmp_path: Path) -> None:
    with loopback(by_kind(llm_judge=1)) as judge:
        ran, strict = judged(tmp_path, judge), judged(tmp_path, judge, "--strict")
        asked = len(judge.asked)
        vouch(tmp_path, judge)
        sure = judged(tmp_path, judge)
    assert (ran.code, ran.report["verdict"]) == (0, "warn")
    assert ran.scenario("S")["status"] == "warn"
    assert ran.checks("S")["llm_judge"] == ("warn", "score 1 < 3 (r): Because.")
    assert ran.checks("S")["safety_check"] == ("skip", "not asked: llm_judge failed")
    line = ran.line("judge", "calibration")
    assert (line["level"], line["status"]) == ("warning", "fail")
    assert line["message"] == (
        "judges can only warn: there is no calibration judge-calibration.json; "
        "run `passmuster judge audit passmuster.json --labels FILE`"
    )
    assert strict.code == 1
    assert strict.line("judge", "calibration")["level"] == "blocking"
    assert sure.code == 1
    assert sure.scenario("S")["status"] == "fail"
    assert not [line for line in sure.lines("judge") if line["id"] == "calibration"]
    assert len(judge.asked) - asked == asked / 2  # the same questions either way


def test_a_passing_judge_is_told_of_too(tmp_path: Path) -> None:
    with loopback(by_kind()) as judge:
        ran = judged(tmp_path, judge)
    assert (ran.code, ran.report["verdict"], ran.scenario("S")["status"]) == (0, "warn", "pass")


def test_what_code_can_see_still_fails(tmp_path: Path) -> None:
    with loopback(by_kind()) as judge:
        assert judged(tmp_path, judge, trace={**TRACE, "answer": "Bye."}).code == 1
        alone = {"id": "S", "correctness": {"llm_judge": "r"}}
        assert judged(tmp_path, judge, scenario=alone, trace={**TRACE, "answer": None}).code == 1


def test_a_judge_that_is_down_is_an_error_all_the_same(tmp_path: Path) -> None:
    down = {"provider": "openai", "model": "m", "base_url": closed_address(), "retries": 0}
    write(tmp_path, {**down, "require_calibration": True}, [SCENARIO], [TRACE])
    assert run(tmp_path).code == 3


BEHAVIORS = {"id": "S", "expected_behaviors": ["greets", {"answer_contains": "hello"}], "must_not": ["begs"]}


@pytest.mark.parametrize(
    ("greets", "begs", "undecided", "status"),
    [
        (5, 1, [], "pass"),
        (1, 1, ["greets"], "pass"),
        (5, 5, ["begs"], "skip"),
        (1, 5, ["greets", "begs"], "skip"),
    ],
)
def test_what_it_says_against_a_run_is_undecided(
    greets: int, begs: int, undecided: list[str], status: str, tmp_path: Path
) -> None:
    def mind(asked: Asked) -> Behaviour:
        return scored(begs if "begs" in asked.user else greets)

    with loopback(mind) as judge:
        ran, strict = (judged(tmp_path, judge, *o, scenario=BEHAVIORS) for o in ((), ("--strict",)))
        vouch(tmp_path, judge)
        sure = judged(tmp_path, judge, scenario=BEHAVIORS)
    assert (ran.code, ran.report["verdict"]) == (0, "warn")
    assert ran.scenario("S")["status"] == status
    assert ran.scenario("S")["behaviors"]["undecided"] == undecided
    assert ran.scenario("S")["behaviors"]["violated"] == ran.scenario("S")["behaviors"]["missing"] == []
    for name in undecided:
        assert any(
            reason.startswith(f"{name}: the judge has no valid calibration; the judge's score")
            for reason in ran.scenario("S")["reasons"]
        )
    assert strict.code == 1
    assert sure.code == (1 if undecided else 0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"expires": "2025-12-31"}, "expired on 2025-12-31"),
        ({"prompt_sha256": "0"}, "was made with other prompts"),
        ({"judges": []}, "0 were audited, 1 are configured"),
        ({"audit": None}, "is damaged"),
    ],
)
def test_why_it_does_not_count_is_told(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with loopback(by_kind(llm_judge=1)) as judge:
        vouch(tmp_path, judge)
        path = tmp_path / "judge-calibration.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        ran = judged(tmp_path, judge)
    assert ran.code == 0
    assert reason in ran.line("judge", "calibration")["message"]


def test_only_suites_that_want_it_look_for_it(tmp_path: Path) -> None:
    with loopback(by_kind(llm_judge=1)) as judge:
        write(tmp_path, judge_config(judge), [SCENARIO], [TRACE])
        ran = run(tmp_path)
        off = judged(tmp_path, judge, "--judge", "off")
    assert ran.code == 1
    assert ran.lines("judge")[0]["id"] == "not_asked"
    assert [line["id"] for line in off.lines("judge")] == []


def test_workers_hear_of_it(tmp_path: Path) -> None:
    with loopback(by_kind(llm_judge=1)) as judge:
        config_ = judge_config(judge, require_calibration=True, cache="verdicts.jsonl")
        write(tmp_path, config_, [SCENARIO, BEHAVIORS | {"id": "T"}], [TRACE, {**TRACE, "scenario": "T"}])
        run(tmp_path)
    for number, line in enumerate((tmp_path / "traces.jsonl").read_text().splitlines()):
        (tmp_path / f"part-{number}.jsonl").write_text(line + "\n")
    one, two = (run(tmp_path, "--judge", "cached", "--traces", "part-*.jsonl", "--workers", n) for n in "12")
    assert one.code == two.code == 0
    assert (one.report["gate"], one.report["scenarios"]) == (two.report["gate"], two.report["scenarios"])


@pytest.mark.parametrize("value", ["../out.json", "/tmp/out.json"])
def test_it_lies_within_the_root(value: str, tmp_path: Path) -> None:
    write(tmp_path, {**BASE, "calibration": value}, [SCENARIO], [TRACE])
    ran = run(tmp_path)
    assert ran.code == 2
    assert f"judge_config.calibration: '{value}' is outside the root" in ran.stderr


# ── From the audit to the run ───────────────────────────────────────────────────────────────────────────────


def labels_in(folder: Path, judge: Loopback, **more: Any) -> None:
    scenario = {"id": "S", "correctness": {"llm_judge": "r"}}
    answers = [f"{'good' if number % 2 else 'bad'} {number}" for number in range(40)]
    traces = [{"scenario": "S", "trace_id": answer, "answer": answer} for answer in answers]
    write(folder, judge_config(judge, require_calibration=True, **more), [scenario], traces)
    rows = [{"trace_id": answer, "label": "pass" if answer.startswith("good") else "fail"} for answer in answers]
    (folder / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def wise(asked: Asked) -> Behaviour:
    return scored(5 if asked.quoted["answer"].startswith("good") else 1)


AUDIT = ("judge", "audit", "--root", ".", "--labels", "labels.jsonl", "--repeats", "2", "--today", "2026-01-01")


def test_an_audit_makes_a_judge_count(tmp_path: Path) -> None:
    with loopback(wise) as judge:
        labels_in(tmp_path, judge, api_key_env="MY_KEY")
        before = run(tmp_path, "--today", "2026-01-01", MY_KEY="k-secret-1")
        ended = passmuster_(tmp_path, *AUDIT, "--valid-days", "10", MY_KEY="k-secret-1")
        after = run(tmp_path, "--today", "2026-01-11", MY_KEY="k-secret-1")
        late = run(tmp_path, "--today", "2026-01-12", MY_KEY="k-secret-1")
    assert (before.code, ended.returncode, after.code, late.code) == (0, 0, 1, 0)
    assert "Saved in judge-calibration.json, valid through 2026-01-11." in ended.stdout
    assert "expired on 2026-01-11" in late.line("judge", "calibration")["message"]
    assert "k-secret-1" not in (tmp_path / "judge-calibration.json").read_text()


def test_an_audit_that_finds_a_bad_judge_says_so_to_the_run(tmp_path: Path) -> None:
    with loopback(scored(5)) as judge:
        labels_in(tmp_path, judge, calibration="kept.json")
        ended = passmuster_(tmp_path, *AUDIT)
        ran = run(tmp_path, "--today", "2026-01-01")
    assert ended.returncode == 1
    assert ran.code == 0
    assert "the calibration kept.json says: not usable: it agrees with" in ran.line("judge", "calibration")["message"]


def test_a_file_that_cannot_be_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "kept.json").mkdir()
    with loopback(wise) as judge:
        labels_in(tmp_path, judge)
        ended = passmuster_(tmp_path, *AUDIT, "-o", "kept.json")
    assert ended.returncode == 2
    assert "kept.json: cannot write this calibration: it is a folder" in ended.stderr
    assert judge.asked == []


def test_a_failed_audit_leaves_the_earlier_calibration_as_it_was(tmp_path: Path) -> None:
    with loopback(wise) as judge:
        labels_in(tmp_path, judge)
        passmuster_(tmp_path, *AUDIT)
        before = (tmp_path / "judge-calibration.json").read_bytes()
        judge.mind = lambda asked: Says(text="I cannot say.")
        ended = passmuster_(tmp_path, *AUDIT)
    assert ended.returncode == 3
    assert "it gave no verdict" in ended.stderr
    assert (tmp_path / "judge-calibration.json").read_bytes() == before
    assert not list(tmp_path.glob(".passmuster-*"))
