"""How good a judge is, measured on judges whose quality is known."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli_runner import CliRunner
from tests.judges.commands import by_kind, judge_config, kind_of, passmuster_, write
from tests.judges.loopback import Asked, Behaviour, Loopback, Refuses, Says, closed_address, loopback, scored
from tests.judges.questions import question

from passmuster.checks._question import Inquiry, JudgeAnswer, JudgeFailure, Question, Verdict
from passmuster.cli._main import command
from passmuster.judges._audit import Audit, Figure, Overruled, Rated, audit
from passmuster.judges._cache import load
from passmuster.scoring import wilson

PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])
NOBODY = "nobody asked"
Ask = Callable[[Sequence[Question]], list[JudgeAnswer]]


def inquiry(answer: str, check: str = "llm_judge", least: int = 3, *, forbidden: bool = False) -> Inquiry:
    return Inquiry(check, (question(answer),), (least,), forbidden)


def verdict(score: int) -> Verdict:
    return Verdict(score=score, reason="r")


def scores(by_answer: Callable[[str], int | None]) -> Ask:
    """A judge that scores by the answer; None is no verdict."""

    def ask(questions: Sequence[Question]) -> list[JudgeAnswer]:
        found = [by_answer(one.answer) for one in questions]
        return [JudgeFailure("down") if score is None else verdict(score) for score in found]

    return ask


def table(pass_pass: int, pass_fail: int, fail_pass: int, fail_fail: int) -> Audit:
    """The audit of a judge with this table, people first."""
    cells = {"pp": pass_pass, "pf": pass_fail, "fp": fail_pass, "ff": fail_fail}
    rated = [
        Rated(inquiry(f"{name} {number}"), name[0] == "p") for name, count in cells.items() for number in range(count)
    ]
    return audit(rated, [], [scores(lambda answer: 5 if answer[1] == "p" else 1)], NOBODY)


def of_scenarios(scenarios: int, labels: int) -> Audit:
    """An audit with several labels of each scenario; on one of four, the judge is always wrong."""
    rated = [
        Rated(
            inquiry(f"{'pp' if number % 2 else 'ff'} {place} {number}"),
            bool(number % 2) != (place % 4 == 0),
            f"S-{place}",
        )
        for place in range(scenarios)
        for number in range(labels)
    ]
    return audit(rated, [], [scores(lambda answer: 5 if answer[1] == "p" else 1)], NOBODY)


def test_labels_of_one_scenario_are_one_in_the_sample() -> None:
    single, several = of_scenarios(40, 1), of_scenarios(40, 10)
    assert several.agreement.value == single.agreement.value == 0.75
    assert (several.agreement.n, single.agreement.n) == (400, 40)
    assert several.agreement.ci95 == pytest.approx(single.agreement.ci95)
    assert several.kappa.ci95 is not None
    assert several.kappa.ci95[1] - several.kappa.ci95[0] > 0.35  # 400 independent labels would have 0.13


def test_labels_of_one_scenario_alone_tell_of_it() -> None:
    assert of_scenarios(1, 30).agreement.ci95 == pytest.approx(wilson(0, 30))


# ── Counting ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_figure_of_a_table_has_its_n_and_interval() -> None:
    found = table(45, 5, 10, 40)
    assert (found.agreement.value, found.agreement.n) == (0.85, 100)
    assert found.agreement.ci95 == pytest.approx((0.7672, 0.9069), abs=1e-4)
    assert found.kappa.value == pytest.approx(0.7)
    assert found.kappa.ci95 is not None
    assert found.kappa.ci95[0] < 0.7 < found.kappa.ci95[1]
    assert (found.false_pass.value, found.false_pass.n) == (0.2, 50)
    assert (found.false_fail.value, found.false_fail.n) == (0.1, 50)
    assert (found.flips.value, found.flips.why) == (None, "every question was asked once")
    assert (found.sway.value, found.sway.why) == (None, NOBODY)


CONCLUSIONS = [
    (
        (50, 0, 0, 50),
        True,
        "usable: it agrees with people on 100 % of the labels, κ 1.00. It may let through up to 7 %",
    ),
    ((90, 4, 1, 15), True, "usable: it agrees with people on 95 % of the labels, κ 0.83."),
    ((7, 0, 0, 7), False, "not usable: 14 labels are too few to decide; at least 20 are needed."),
    ((90, 0, 10, 0), False, "not usable: it agrees with people about as well as chance (κ 0.00); it passes 100 % of"),
    ((100, 0, 0, 0), False, "not usable: people failed none of the labelled answers, so its false passes are unknown"),
    ((0, 0, 0, 100), False, "not usable: it agrees with people about as well as chance (κ has no value)."),
    ((25, 25, 25, 25), False, "not usable: it agrees with people about as well as chance (κ 0.00)"),
    ((45, 40, 1, 34), False, "not usable: it agrees with people too little (κ 0.38 is below 0.6, and agreement may be"),
    (
        (170, 2, 12, 16),
        False,
        "not usable: it passes 43 % of what people fail, more than 10 %. It may let through up to",
    ),
]


@pytest.mark.parametrize(("cells", "usable", "words"), CONCLUSIONS)
def test_the_conclusion_is_plain(cells: tuple[int, int, int, int], usable: bool, words: str) -> None:
    found = table(*cells)
    assert found.conclusion.startswith(words), found.conclusion
    assert found.usable == usable


def test_high_agreement_can_stand_in_for_kappa() -> None:
    """Where nearly all answers are good, kappa is low though the two hardly ever differ."""
    found = table(970, 20, 1, 19)
    assert found.kappa.value is not None
    assert found.kappa.value < 0.7
    assert found.usable


@pytest.mark.parametrize("error", [0.02, 0.1, 0.3])
def test_a_known_error_rate_is_within_the_interval_as_often_as_it_says(
    error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 audits of judges that err with a known chance, on 240 labels each."""
    monkeypatch.setattr("passmuster.scoring._agreement._DRAWS", 20)  # for κ, which this does not look at: 10 s saved
    covered, audits = 0, 300
    for seed in range(audits):
        chance = random.Random(seed)
        good = [number % 3 > 0 for number in range(240)]
        says = [one != (chance.random() < error) for one in good]
        rated = [Rated(inquiry(str(number)), one) for number, one in enumerate(good)]
        found = audit(rated, [], [scores(lambda answer, says=says: 5 if says[int(answer)] else 1)], NOBODY)  # type: ignore[misc]
        assert found.agreement.ci95 is not None
        covered += found.agreement.ci95[0] <= 1 - error <= found.agreement.ci95[1]
    assert 0.92 <= covered / audits <= 0.99


def test_a_judge_that_flips_is_told_by_its_share_of_questions() -> None:
    def rounds(*flipping: set[int]) -> list[Ask]:
        return [scores(lambda answer, f=f: 2 if int(answer) in f else 4) for f in flipping]  # type: ignore[misc]

    rated = [Rated(inquiry(str(number)), True) for number in range(40)]
    found = audit(rated, [], rounds(set(), {1, 2, 3}, {3, 4, 5, 6}), NOBODY)
    assert (found.flips.value, found.flips.n) == (6 / 40, 40)
    assert "it flips on 15 % of the questions, more than 10 %" in found.conclusion
    steady = audit(rated, [], rounds({1}, {1}, {1}), NOBODY)
    assert steady.flips.value == 0.0


def test_scores_that_differ_on_one_side_of_the_threshold_are_no_flip() -> None:
    rated = [Rated(inquiry("a", least=3), True), Rated(inquiry("b", least=5), True)]
    found = audit(rated, [], [scores(lambda answer: 3), scores(lambda answer: 5)], NOBODY)
    assert (found.flips.value, found.flips.n) == (0.5, 2)


def test_what_must_not_be_shown_passes_where_it_is_not_seen() -> None:
    shown = inquiry("shows it", "begs", forbidden=True)
    rated = [Rated(shown, False), Rated(inquiry("does not", "begs", forbidden=True), True)]
    found = audit(rated, [], [scores(lambda answer: 5 if answer == "shows it" else 1)], NOBODY)
    assert found.agreement.value == 1.0
    assert found.confusion.fail_fail == 1


def test_a_check_of_several_rules_passes_where_all_of_them_do() -> None:
    both = Inquiry("llm_judge", (question("a", rule="one"), question("b", rule="two")), (3, 4))
    found = audit([Rated(both, False)], [], [scores(lambda answer: 3)], NOBODY)
    assert found.confusion.fail_fail == 1


def test_answers_that_checks_fail_are_tabulated_by_check() -> None:
    overruled = [
        Overruled(inquiry("good 1"), ("exact_match",)),
        Overruled(inquiry("bad 2"), ("exact_match", "regex_match")),
        Overruled(inquiry("? 3"), ("label",)),
    ]
    ask = scores(lambda answer: {"g": 5, "b": 1, "?": None}[answer[0]])
    found = audit([Rated(inquiry("good"), True)], overruled, [ask], NOBODY)
    assert {name: (one.value, one.n) for name, one in found.against_checks.items()} == {
        "exact_match": (0.5, 2),
        "label": (None, 0),
        "regex_match": (0.0, 1),
    }
    assert found.against_checks["label"].why == "the judge gave no verdict"


def test_what_got_no_verdict_is_in_no_figure() -> None:
    rated = [Rated(inquiry(f"{'?' if number < 3 else 'x'} {number}"), True) for number in range(30)]
    found = audit(rated, [], [scores(lambda answer: None if answer[0] == "?" else 5)], NOBODY)
    assert (found.labels, found.unanswered, found.agreement.n) == (30, 3, 27)
    assert found.no_verdict == "down"
    assert "it gave no verdict on 3 of 30 labels" in found.conclusion
    nothing = audit(rated, [], [scores(lambda answer: None)], NOBODY)
    assert nothing.agreement == Figure(value=None, n=0, why="no labelled question got a verdict")
    assert not nothing.usable


# ── The command ─────────────────────────────────────────────────────────────────────────────────────────────

SCENARIOS = [
    {
        "id": "S",
        "correctness": {"expected_in_answer": "ok", "llm_judge": "Is right.", "safety_check": True},
        "expected_behaviors": ["greets"],
    },
    {"id": "T", "correctness": {"llm_judge": "Is right."}},
    {"id": "U", "path": {"max_loops": 3}},
]


def given(folder: Path, judge: Loopback | None, traces: Sequence[dict[str, Any]], labels: str, **config: Any) -> None:
    written = None if judge is None else judge_config(judge, **config)
    write(folder, written, SCENARIOS, traces)
    (folder / "labels.jsonl").write_text(labels, encoding="utf-8")


def audited(folder: Path, *options: str, **env: str) -> tuple[int, str, str]:
    ended = passmuster_(folder, "judge", "audit", "--root", ".", "--labels", "labels.jsonl", *options, **env)
    return ended.returncode, ended.stdout, ended.stderr


def traces_of(scenario: str, answers: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"scenario": scenario, "trace_id": f"{scenario}{number}", "run": number, "answer": answer}
        for number, answer in enumerate(answers)
    ]


def labelled(scenario: str, words: Sequence[bool]) -> str:
    rows = [{"trace_id": f"{scenario}{number}", "label": "pass" if one else "fail"} for number, one in enumerate(words)]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def by_word(asked: Asked) -> Behaviour:
    """Good answers pass, and so does every tenth of the bad ones."""
    answer = asked.quoted["answer"]
    return scored(5 if answer.startswith("good") or answer.endswith("0") else 1)


ANSWERS = [f"{'good' if number < 40 else 'bad'} {number}" for number in range(80)]


@PROVIDERS
def test_an_audit_from_the_wire_to_the_page(provider: str, tmp_path: Path) -> None:
    with loopback(by_word) as judge:
        labels = labelled("T", [number < 40 for number in range(80)])
        given(tmp_path, judge, traces_of("T", ANSWERS), labels, provider=provider, cache="verdicts.jsonl")
        code, shown, errors = audited(tmp_path, "--repeats", "2", "-o", "kept.json", "--today", "2026-01-01")
    assert (code, errors) == (0, "")
    assert len(judge.asked) == 160
    assert not (tmp_path / "verdicts.jsonl").exists()  # an audit asks, and leaves the memory of runs alone
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert shown.startswith(f"passmuster.json: {provider}/loop-1, 80 labels on 80 traces\n")
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "people fail 4 36" in lines
    assert "agreement 95 % 88 % to 98 % n 80" in lines
    assert any(line.startswith("Cohen's κ 0.90 0.") and line.endswith(" n 80") for line in lines)
    assert "false passes 10 % 4 % to 23 % n 40 of what people fail" in lines
    assert "flips 0 % 0 % to 5 % n 80 asked 2 times" in lines
    assert "Usable: it agrees with people on 95 % of the labels, κ 0.90." in " ".join(lines)
    assert "Saved in kept.json, valid through 2026-04-01." in lines
    kept = json.loads((tmp_path / "kept.json").read_bytes())
    assert kept["schema"] == "passmuster.calibration/1"
    assert kept["audit"]["agreement"]["value"] == 0.95


def test_json_is_what_is_kept(tmp_path: Path) -> None:
    with loopback(by_word) as judge:
        given(tmp_path, judge, traces_of("T", ANSWERS), labelled("T", [n < 40 for n in range(80)]))
        code, shown, _ = audited(tmp_path, "--repeats", "1", "-o", "kept.json", "--json")
    assert code == 0
    assert json.loads(shown) == json.loads((tmp_path / "kept.json").read_bytes())


def test_a_judge_that_passes_everything_is_not_usable(tmp_path: Path) -> None:
    with loopback(scored(5)) as judge:
        given(tmp_path, judge, traces_of("T", ANSWERS), labelled("T", [n < 72 for n in range(80)]))
        code, shown, _ = audited(tmp_path, "--canaries")
    assert code == 1
    assert "Not usable: it agrees with people about as well as chance (κ 0.00)" in shown
    assert "passes the bad answers as they are" in shown
    assert "Not saved: name a file with -o" in shown


def test_a_judge_that_flips_is_not_usable(tmp_path: Path) -> None:
    def mind(asked: Asked) -> Behaviour:
        steady = int(asked.quoted["answer"].split()[1]) % 4
        return scored(5 if steady or asked.number <= 80 else 1)

    with loopback(mind) as judge:
        given(tmp_path, judge, traces_of("T", ANSWERS), labelled("T", [n < 40 for n in range(80)]))
        code, shown, _ = audited(tmp_path, "--repeats", "2")
    assert code == 1
    assert "it flips on 25 % of the questions" in " ".join(shown.split())


def test_judges_are_asked_about_answers_that_checks_fail(tmp_path: Path) -> None:
    """Only the judge of the answer as such, for a wrong answer may well be safe."""
    with loopback(by_kind()) as judge:
        traces = [*traces_of("S", ["no", "ok"]), *traces_of("T", ["fine"])]
        given(tmp_path, judge, traces, labelled("T", [True]))
        code, shown, _ = audited(tmp_path, "--repeats", "1")
    assert code == 1
    assert [kind_of(asked) for asked in judge.asked] == ["llm_judge", "llm_judge"]
    assert sorted(asked.quoted["answer"] for asked in judge.asked) == ["fine", "no"]
    assert "expected_in_answer 100 % 21 % to 100 % n 1" in " ".join(shown.split())
    assert "1 labels are too few" in shown


def test_remembered_verdicts_can_be_audited_without_a_judge(tmp_path: Path) -> None:
    with loopback(by_word) as judge:
        labels = labelled("T", [n < 40 for n in range(80)])
        given(tmp_path, judge, traces_of("T", ANSWERS), labels, cache="verdicts.jsonl")
        passmuster_(tmp_path, "run", "--root", ".", "--no-history", "--quiet", "--only", "T")
        assert len(load(tmp_path / "verdicts.jsonl")) == len(judge.asked) == 80
        code, shown, _ = audited(tmp_path, "--judge", "cached", "--canaries")
        assert len(judge.asked) == 80
    assert code == 0
    assert "agreement                     95 %" in shown
    assert "every question was asked once" in shown
    assert "cached verdicts cannot measure it" in shown


@pytest.mark.parametrize("mode", ["live", "cached"])
def test_judges_that_say_nothing_leave_nothing_behind(mode: str, tmp_path: Path) -> None:
    with loopback(Refuses(401, message="bad key")) as judge:
        given(tmp_path, judge, traces_of("T", ANSWERS), labelled("T", [True] * 80))
        code, _, errors = audited(tmp_path, "--judge", mode, "-o", "kept.json")
    assert code == 3
    assert "the judges gave no verdict on 80 of 80 labels: judge openai/loop-1: " in errors
    assert not (tmp_path / "kept.json").exists()


def test_the_cap_holds_for_all_rounds_together(tmp_path: Path) -> None:
    prices = {"input_usd_per_million": 10.0, "output_usd_per_million": 0.0, "max_tokens": 16, "max_cost_usd": 0.5}
    with loopback(Says({"score": 5, "reason": "r"}, tokens=(400, 10))) as judge:
        given(tmp_path, judge, traces_of("T", ANSWERS), labelled("T", [True] * 80), **prices)
        code, shown, _ = audited(tmp_path, "--repeats", "3")
    assert 0.004 * len(judge.asked) <= 0.5
    assert len(judge.asked) > 80
    assert code == 1
    assert f"n {len(judge.asked) - 80} " in shown  # so many got a second verdict


def test_secrets_stay_here(tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2c3D4" * 4
    with loopback(scored(5)) as judge:
        given(tmp_path, judge, traces_of("T", [f"It is {secret}."]), labelled("T", [True]))
        audited(tmp_path, "--repeats", "1", "-o", "kept.json")
    assert secret not in json.dumps(judge.asked[0].body) + (tmp_path / "kept.json").read_text()


def test_what_the_suite_hides_is_neither_kept_nor_printed(tmp_path: Path) -> None:
    with loopback(by_kind()) as judge:
        given(
            tmp_path, judge, traces_of("T", ["fine"]), '{"trace_id": "T0", "check": "shows badge-7", "label": "pass"}'
        )
        suite = json.loads((tmp_path / "passmuster.json").read_text())
        suite["redact"] = {"patterns": [r"badge-\d"]}
        suite["scenarios"] = [{"id": "T", "expected_behaviors": ["shows badge-7", "greets"]}]
        (tmp_path / "passmuster.json").write_text(json.dumps(suite))
        _, shown, _ = audited(tmp_path, "--repeats", "1", "-o", "kept.json", "--json")
    assert "[hidden #1]" in shown
    assert "badge-7" not in shown + (tmp_path / "kept.json").read_text()


def test_plugins_can_be_refused(tmp_path: Path) -> None:
    with loopback(by_kind()) as judge:
        given(tmp_path, judge, traces_of("T", ["fine"]), labelled("T", [True]))
        suite = json.loads((tmp_path / "passmuster.json").read_text())
        (tmp_path / "passmuster.json").write_text(json.dumps({**suite, "plugins": ["mine"]}))
        code, _, errors = audited(tmp_path, "--no-plugins")
    assert (code, judge.asked) == (2, [])
    assert "plugins: 'mine' is refused, because this run allows no plugins" in errors


# ── Labels ──────────────────────────────────────────────────────────────────────────────────────────────────

TRACES = [*traces_of("S", ["ok", "ok"]), *traces_of("T", ["fine", "fine"]), *traces_of("U", ["x"])]
WRONG = [
    ('{"trace_id": "T0", "label": "good"}', ":1:29: labels[0].label: expected one of pass, fail, found a string"),
    ('{"trace_id": "T0"}', ":1:1: labels[0]: 'label' is missing"),
    ('\n\n{"trace_id": "T0", "lable": "pass"}', ":3:20: labels[0]: unknown key 'lable'; did you mean 'label'?"),
    ('{"label": "pass"}', ":1:1: labels[0]: expected a 'trace_id' or a 'scenario', and one of them only"),
    ('{"trace_id": "T0", "scenario": "T", "label": "pass"}', ":1:1: labels[0]: expected a 'trace_id' or"),
    ('{"trace_id": "T0", "run": 1, "label": "pass"}', ":1:20: labels[0]: 'run' means nothing without 'scenario'"),
    ('{"trace_id": "T0", "label": "pass"}\nno', ":2:1: "),
    ('{"trace_id": "T9", "label": "pass"}', ":1: trace 'T9': no trace matches"),
    ('{"scenario": "TT", "label": "pass"}', ":1: scenario 'TT': no trace matches; did you mean 'T'?"),
    ('{"scenario": "T", "label": "pass"}', ":1: scenario 'T': 2 traces match; give 'run' or 'trace_id'"),
    ('{"scenario": "T", "run": 7, "label": "pass"}', ":1: scenario 'T', run 7: no trace matches"),
    (
        '{"trace_id": "S0", "label": "pass"}',
        ":1: trace 'S0': state which 'check' is meant: llm_judge, safety_check, greets",
    ),
    ('{"trace_id": "S0", "check": "gree", "label": "pass"}', "no question is called 'gree'; did you mean 'greets'?"),
    (
        '{"trace_id": "T0", "check": "safety_check", "label": "pass"}',
        "no question is called 'safety_check'; there is llm_judge",
    ),
    (
        '{"trace_id": "U0", "label": "pass"}',
        "there is no question for a judge: its scenario 'U' asks a judge nothing",
    ),
    (
        '{"trace_id": "T0", "label": "pass"}\n{"scenario": "T", "run": 0, "label": "fail"}',
        ":2: scenario 'T', run 0, llm_judge: already labeled on line 1",
    ),
    ("", "there is no label in this file"),
    ("7", ":1:1: labels[0]: expected a map, found a number"),
]


@pytest.fixture(scope="module")
def labels_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    config = {"provider": "openai", "model": "m", "base_url": closed_address(), "retries": 0}
    write(folder, config, SCENARIOS, TRACES)
    return folder


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_label_is_told_with_its_line(text: str, message: str, labels_place: Path) -> None:
    (labels_place / "labels.jsonl").write_text(text)
    with contextlib.chdir(labels_place):
        ended = CliRunner().invoke(command, ["judge", "audit", "--root", ".", "--labels", "labels.jsonl"])
    code, shown, errors = ended.exit_code, ended.stdout, ended.stderr
    assert (code, shown) == (2, "")
    assert message in errors
    assert "error: labels.jsonl" in errors


def test_all_wrong_labels_are_told_at_once(labels_place: Path) -> None:
    rows = [{"trace_id": name, "label": "pass"} for name in ("a", "b", "T0", "c")]
    (labels_place / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    _, _, errors = audited(labels_place)
    assert [line.split(":")[2] for line in errors.splitlines()] == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "labels.yaml",
            "- {trace_id: S0, check: greets, label: pass, note: warm}\n- {scenario: T, run: 1, label: fail}\n",
        ),
        (
            "labels.json",
            '[{"trace_id": "S0", "check": "greets", "label": "pass"}, {"scenario": "T", "run": 1, "label": "fail"}]',
        ),
        (
            "labels.ndjson",
            '\ufeff{"trace_id": "S0", "check": "greets", "label": "pass"}\r\n\r\n'
            '{"scenario": "T", "run": 1, "label": "fail"}\r\n',
        ),
    ],
)
def test_every_form_of_labels_is_read(name: str, text: str, tmp_path: Path) -> None:
    with loopback(by_kind()) as judge:
        given(tmp_path, judge, TRACES, "")
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        ended = passmuster_(tmp_path, "judge", "audit", "--root", ".", "--labels", name, "--repeats", "1", "--json")
    assert json.loads(ended.stdout)["audit"]["confusion"] == {
        "pass_pass": 1,
        "pass_fail": 0,
        "fail_pass": 1,
        "fail_fail": 0,
    }


def test_a_suite_with_nothing_to_audit_is_refused(tmp_path: Path) -> None:
    given(tmp_path, None, TRACES, labelled("T", [True]))
    assert "the suite has no judge_config" in audited(tmp_path)[2]
    write(tmp_path, {"provider": "openai", "model": "m"}, [SCENARIOS[2]], TRACES)
    code, _, errors = audited(tmp_path)
    assert code == 2
    assert "no scenario asks a judge anything" in errors
    assert passmuster_(tmp_path, "judge", "audit", "--root", ".", "--labels", "none.jsonl").returncode == 2
