"""`passmuster init`: a suite that passes on the traces it was learned from, fails on faults, and does not overfit."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from bench import learned_suites
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import passmuster
from passmuster import api
from passmuster._atomic_write import create_file
from passmuster._problems import InputError, UsageError

REPOSITORY = Path(__file__).parents[2]
Record = dict[str, Any]


def call(tool: str, **arguments: Any) -> Record:
    return {"type": "tool_call", "tool": tool, "arguments": arguments}


def shop_trace(number: int, rng: random.Random) -> Record:
    """One run of an agent that verifies before it pays, and looks up orders before it discounts them."""
    order = f"ord_{rng.randint(1, 999)}"
    steps = [call("get_order", order_id=order)]
    if rng.random() < 0.5:
        steps.append(call("search", text=rng.choice("abc"), **({"limit": 5} if rng.random() < 0.5 else {})))
    if rng.random() < 0.5:
        steps.append(call("verify_identity", customer=f"c{number}", method=rng.choice(["sms", "mail"])))
        steps.append(call("issue_refund", order_id=order, amount=rng.choice([5, 7.5, 20]), express=rng.random() < 0.5))
    if rng.random() < 0.4:
        steps.append(call("apply_discount", order_id=order, percent=rng.randint(1, 30), tags=["late"]))
    steps.append(call("close_ticket", ticket=number))
    return {
        "trace_id": f"t-{number}",
        "query": f"Question {number}",
        "answer": "Done.",
        "steps": steps,
        "total_cost_usd": round(rng.uniform(0.01, 0.02), 4),
        "total_tokens": rng.randint(800, 1200),
        "total_duration_ms": rng.randint(900, 1500),
    }


def shop(traces: int, seed: int = 1) -> list[Record]:
    rng = random.Random(seed)
    return [shop_trace(number, rng) for number in range(traces)]


def write(path: Path, records: list[Record]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def init(folder: Path, records: list[Record], monkeypatch: pytest.MonkeyPatch) -> api.Initialized:
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    write(folder / "traces.jsonl", records)
    return api.init_suite(["traces.jsonl"], api.SourceOptions())


def judged(records: list[Record], folder: str = ".") -> passmuster.Report:
    return passmuster.evaluate(passmuster.load_suite(folder), records)


def faulty(records: list[Record], change: Any) -> list[Record]:
    """The traces with a fault in the first that has what it changes."""
    changed = copy.deepcopy(records)
    for record in changed:
        if change(record["steps"], record):
            return changed
    raise AssertionError("no trace has what the fault changes")


def the(steps: list[Record], tool: str) -> Record | None:
    return next((step for step in steps if step["tool"] == tool), None)


def wrong_argument(tool: str, **arguments: Any) -> Any:
    def change(steps: list[Record], record: Record) -> bool:
        step = the(steps, tool)
        if step is not None:
            step["arguments"] = {k: v for k, v in {**step["arguments"], **arguments}.items() if v != "gone"}
        return step is not None

    return change


def without(tool: str, needed_by: str) -> Any:
    """The call that has to come first is left out."""

    def change(steps: list[Record], record: Record) -> bool:
        step = the(steps, tool)
        if step is None or the(steps, needed_by) is None:
            return False
        steps.remove(step)
        return True

    return change


def more(*added: Record) -> Any:
    def change(steps: list[Record], record: Record) -> bool:
        steps.extend(added)
        return True

    return change


def costly(**figures: float) -> Any:
    def change(steps: list[Record], record: Record) -> bool:
        record.update(figures)
        return True

    return change


FAULTS = {
    "argument of another type": (wrong_argument("issue_refund", amount="all"), "fail"),
    "required argument gone": (wrong_argument("issue_refund", order_id="gone"), "fail"),
    "list that is none": (wrong_argument("apply_discount", tags="late"), "fail"),
    "refund before identity": (without("verify_identity", "issue_refund"), "fail"),
    "refund without its order": (without("get_order", "issue_refund"), "fail"),
    "discount without its order": (without("get_order", "apply_discount"), "fail"),
    "tool nobody has": (more(call("delete_customer")), "fail"),
    "tool of an administrator": (more(call("admin_reset")), "fail"),
    "tool with another name": (more(call("issueRefund", amount=1)), "fail"),
    "path: a loop": (more(*[call("search", text="a")] * 8), "warn"),
    "path: what every run does left out": (without("close_ticket", "get_order"), "warn"),
    "path: an order twice too often": (more(*[call("get_order", order_id="ord_1")] * 3), "warn"),
    "cost: dollars": (costly(total_cost_usd=0.2), "warn"),
    "cost: tokens": (costly(total_tokens=12_000), "warn"),
    "cost: time": (costly(total_duration_ms=15_000), "warn"),
}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    records = shop(80)
    with pytest.MonkeyPatch.context() as patch:
        made = init(tmp_path_factory.getbasetemp() / "shop", records, patch)
    assert made.verdict == "pass"
    assert (made.traces, made.tools) == (80, 6)
    return records


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, learned: list[Record], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = str(tmp_path_factory.getbasetemp() / "shop")
    change, verdict = FAULTS[fault]
    assert judged(learned, folder).verdict == "pass"
    assert judged(faulty(learned, change), folder).verdict == verdict


def test_what_was_learned_from_four_fifths_holds_on_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Optional arguments, rare tools and an order that only holds mostly are no rules."""
    failed: list[tuple[int, str]] = []
    for seed in range(5):
        rng = random.Random(seed)
        records = shop(250, seed)
        for record in records:
            if rng.random() < 0.1:
                record["steps"].insert(0, call("greet", name="you", **({"tone": "warm"} if rng.random() < 0.9 else {})))
            if rng.random() < 0.97:
                record["steps"].insert(rng.randrange(2), call("log", level=rng.choice(["info", None])))
        rng.shuffle(records)
        init(tmp_path / str(seed), records[:200], monkeypatch)
        failed += [(seed, record["trace_id"]) for record in records[200:] if judged([record]).verdict == "fail"]
    assert len(failed) <= 0.01 * 250, failed


@pytest.mark.parametrize("size", [20, 50, 100])
def test_suites_of_few_traces_hardly_ever_fail_others_of_the_same_agent(size: int) -> None:
    """Twelve of the agents that docs/how-this-is-tested.md gives the figures of."""
    trials = learned_suites.generated_trials(size, 12, seed=7, fresh=40)
    assert learned_suites.failing_share(trials) <= learned_suites.LIMIT
    assert any("arguments" in trial.blocking for trial in trials)
    assert size < 100 or any({"known_tools", "usual_order"} <= trial.blocking for trial in trials)


@pytest.mark.parametrize(("traces", "kept"), [(3, "fail"), (20, "warn"), (60, "fail")])
def test_what_few_traces_agree_on_is_asked_and_what_some_do_warns(
    traces: int, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three cannot be told apart from chance at all, so they are taken as they are; of twenty only a part fails."""
    records = shop(traces)
    assert init(tmp_path / "a", records, monkeypatch).verdict == "pass"
    found = {name: judged(faulty(records, change)).verdict for name, (change, _) in FAULTS.items()}
    assert found["argument of another type"] == "fail"
    assert found["tool of an administrator"] == "fail"
    assert {found["refund before identity"], found["tool nobody has"], found["required argument gone"]} == {kept}
    assert all(verdict != "pass" for verdict in found.values()), found
    assert not api.check_suite(".").findings


def test_scenarios_and_repeated_queries_are_kept_apart_from_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = shop(40)
    for number, record in enumerate(records):
        record["scenario"] = f"S-{number % 8}"
        record["query"] = f"Task {number % 8}"
    made = init(tmp_path / "named", records, monkeypatch)
    assert (made.scenarios, made.verdict) == (8, "pass")
    suite = passmuster.load_suite(".")
    assert {one.query for one in suite.scenarios} == {f"Task {number}" for number in range(8)}
    one_alone = judged(records[:1])
    assert (one_alone.exit_code, one_alone.verdict) == (0, "warn")  # the others never ran, which is told
    for record in records:
        del record["scenario"]
    assert init(tmp_path / "asked", records, monkeypatch).scenarios == 8


def test_a_figure_that_some_traces_lack_is_no_threshold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would warn on the very traces it was learned from."""
    records = shop(8)
    assert init(tmp_path / "all", records, monkeypatch).verdict == "pass"
    assert "\n    latency_p95: " in (tmp_path / "all" / "passmuster.yaml").read_text()
    for record in records[:3]:
        del record["total_duration_ms"]
    assert init(tmp_path / "some", records, monkeypatch).verdict == "pass"
    assert "\n    # latency_p95: " in (tmp_path / "some" / "passmuster.yaml").read_text()


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "tools.yaml").write_text("mine")
    write(tmp_path / "t.jsonl", shop(3))
    with pytest.raises(UsageError, match=r"policies/tools\.yaml: there is such a file already"):
        api.init_suite(["t.jsonl"], api.SourceOptions())
    assert not (tmp_path / "passmuster.yaml").exists()
    assert (tmp_path / "policies" / "tools.yaml").read_text() == "mine"
    (tmp_path / "passmuster.json").write_text("{}")
    with pytest.raises(UsageError, match=r"passmuster\.json: there is a suite here already"):
        api.init_suite([], api.SourceOptions())
    with pytest.raises(FileExistsError):  # also where it came up after the look
        create_file(tmp_path / "policies" / "tools.yaml", b"theirs")
    assert (tmp_path / "policies" / "tools.yaml").read_text() == "mine"


def test_without_traces_it_is_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = api.init_suite([], api.SourceOptions())
    example = REPOSITORY / "examples" / "support-agent"
    for name in made.files:
        assert (tmp_path / name).read_bytes() == (example / name).read_bytes()
    suite = passmuster.load_suite(".")
    assert passmuster.evaluate(suite, passmuster.read_traces("traces")).verdict == "pass"


def test_no_secret_of_a_trace_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "sk-proj-" + "a1B2" * 12
    records = [
        {"scenario": "A", "query": f"My key is {token}", "answer": token, "steps": [call("login", password="hunter2x")]}
        for _ in range(5)
    ]
    init(tmp_path / "a", records, monkeypatch)
    written = "".join(path.read_text() for path in (tmp_path / "a").rglob("*.yaml"))
    assert token not in written
    assert "hunter2x" not in written


@pytest.mark.parametrize("where", ["tool", "argument"])
def test_a_name_that_holds_a_secret_is_refused(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "sk-proj-" + "a1B2" * 12
    step = call(f"send {token}") if where == "tool" else call("send", **{token: 1})
    with pytest.raises(UsageError, match="the name of a tool or argument holds a secret"):
        init(tmp_path / "a", [{"scenario": "A", "query": "q", "steps": [step]}] * 5, monkeypatch)
    assert list((tmp_path / "a").rglob("*.yaml")) == []


@pytest.mark.parametrize(
    "records",
    [
        [{"steps": [{"type": "tool_call", "tool": "a", "arguments": {"k" * 5000: 1, "n": 1}}]}] * 5,
        [{"scenario": "A", "steps": [{"type": "tool_call", "tool": "t" * 5000, "arguments": {"n": 1}}]}] * 5,
        [{"answer": "Hello."}],  # which does not record its calls
        [{"steps": [], "answer": "Hello."}],
        [{"steps": [{"type": "tool_call", "tool": "a", "arguments": None}]}],
        [{"steps": [{"type": "tool_call", "tool": "a", "arguments": "text"}]}],
        [{"scenario": "A", "error": "it broke", "steps": []}],
        [{"scenario": "A", "error": {"kind": "infra", "message": "down"}, "steps": []}],
        [{"steps": [{"type": "tool_call", "tool": "a", "error": "no"}, {"type": "tool_call", "tool": "b"}]}] * 5,
    ],
)
def test_traces_that_tell_little_give_a_suite_that_passes_on_them(
    records: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert init(tmp_path / "a", records, monkeypatch).verdict in ("pass", "warn")


def test_no_trace_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError):
        init(tmp_path / "a", [], monkeypatch)


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=4,
)
TOOLS = st.text("abZ_.:/-[]*?!^$|,'\"#{}&%@` \\é漢", min_size=1, max_size=8).map(str.strip).filter(bool)
CALLS = st.fixed_dictionaries(
    {"type": st.just("tool_call"), "tool": TOOLS, "arguments": st.dictionaries(NAMES, VALUES, max_size=3)},
    optional={"error": st.just("failed"), "group": st.integers(0, 2)},
)
TRACES = st.fixed_dictionaries(
    {"steps": st.lists(CALLS, max_size=4)},
    optional={"query": NAMES, "answer": NAMES, "scenario": NAMES, "total_cost_usd": st.floats(0, 1e300)},
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TRACES, min_size=1, max_size=5))
def test_whatever_is_in_the_traces_the_suite_loads_and_passes_on_them(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, records: list[Record]
) -> None:
    try:
        list(passmuster.read_traces([*records]))
    except InputError:
        return  # no reader takes these traces
    assert init(tmp_path_factory.mktemp("any"), records, monkeypatch).verdict in ("pass", "warn")
