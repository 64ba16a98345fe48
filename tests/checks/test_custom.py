"""Custom metrics: found, run, and kept from harming the verdict when they misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import call, judge, trace, write

import passmuster
from passmuster.scoring._report import Report

HEAD = "import passmuster\nfrom passmuster import MetricResult, Violation\n\n@passmuster.metric('mine')\n"


def suite(metric: str = "mine", plugins: object = ("mine",), **fields: Any) -> dict[str, Any]:
    tests = [{"id": "t", "metric": metric, **fields}]
    return {"plugins": list(plugins), "tests": tests} if isinstance(plugins, tuple) else {"tests": tests}


def run(body: str, *traces: Mapping[str, Any], strict: bool = False, **fields: Any) -> Report:
    """The report on a metric whose function has this body."""
    function = HEAD + "def mine(trace, config):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    given = traces or (trace([call("pay", {"amount": 50}), call("log", error="boom")]),)
    return judge(suite(**fields), given, strict=strict, files={"mine__py": function})


# ── What a metric can answer ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("result", "status", "exit_code"),
    [
        ("", "pass", 0),
        ("violations=[]", "pass", 0),
        ("violations=['bad']", "fail", 1),
        ("status='pass', violations=['noted']", "pass", 0),
        ("status='warn'", "warn", 0),
        ("status='fail'", "fail", 1),
        ("status='skip'", "skip", 0),
        ("status='error'", "error", 1),
        ("violations=[{'message': 'm', 'level': 'warn'}]", "warn", 0),
        ("violations=[{'message': 'm', 'level': 'log'}]", "pass", 0),
        ("violations=[{'message': 'm', 'level': 'log'}, 'bad']", "fail", 1),
        # A metric that says fail is not talked out of it by how grave its violations are.
        ("status='fail', violations=[{'message': 'm', 'level': 'log'}]", "fail", 1),
        ("status='warn', violations=['bad']", "warn", 0),
    ],
)
def test_the_status_is_the_metrics_own_or_follows_from_its_violations(result: str, status: str, exit_code: int) -> None:
    report = run(f"return MetricResult({result})")
    assert (report.tests[0].status, report.exit_code) == (status, exit_code)
    assert report.tests[0].exercised == (status != "skip")


@pytest.mark.parametrize("severity", ["warn", "log"])
@pytest.mark.parametrize("result", ["status='fail'", "status='fail', violations=['bad']", "violations=['bad']"])
def test_severity_lowers_what_a_metric_says(severity: str, result: str) -> None:
    report = run(f"return MetricResult({result})", severity=severity)
    assert (report.tests[0].status, report.exit_code) == ({"warn": "warn", "log": "pass"}[severity], 0)


def test_it_sees_the_trace_and_its_own_config() -> None:
    body = """\
first, second = trace.tool_calls
assert (first.tool, first.arguments, first.result, first.error) == ("pay", {"amount": 50}, None, None)
assert second.error == "boom" and second.failed
over = [c.tool for c in trace.tool_calls if c.arguments.get("amount", 0) > config["limit"]]
return MetricResult(violations=over, stats={"over": len(over)})"""
    assert run(body, config={"limit": 30}).tests[0].violations[0].message == "pay"
    assert run(body, config={"limit": 60}).tests[0].status == "pass"


def test_it_sees_what_model_calls_used_up() -> None:
    body = "return MetricResult(stats={'tokens': sum(c.tokens_in for c in trace.model_calls)})"
    said = trace([{"type": "llm_call", "tokens_in": 5}, {"type": "llm_call", "tokens_in": 7}])
    assert run(body, said).tests[0].stats == {"tokens": 12}


@pytest.mark.parametrize(
    "violation",
    [
        "Violation(message='too much', tool='pay', value=50, call_index=1, constraint='max: 30')",
        "Violation(message='too much', level='block', tool='pay', value=50, call_index=1, constraint='max: 30')",
        "dict(message='too much', tool='pay', value=50, call_index=1, constraint='max: 30')",
    ],
)
def test_a_violation_may_be_a_violation_or_a_map(violation: str) -> None:
    report = run(f"return MetricResult(violations=[{violation}])", trace([call("pay")], trace_id="t-1"))
    (found,) = report.tests[0].violations
    assert (found.message, found.tool, found.value, found.has_value) == ("too much", "pay", 50, True)
    assert (found.call_index, found.constraint, found.level) == (1, "max: 30", "block")
    assert (found.trace_id, found.trace_file, found.trace_line) == ("t-1", "traces.jsonl", 1)
    assert (found.policy_file, found.policy_line) == ("passmuster.json", 1)


def test_what_is_worked_out_cannot_be_claimed() -> None:
    claim = "dict(message='m', trace_id='other', trace_file='other', trace_line=9, waived='by me', scenario='S')"
    (found,) = run(f"return MetricResult(violations=[{claim}])", trace("a", trace_id="t-1")).tests[0].violations
    assert (found.trace_id, found.trace_file, found.trace_line) == ("t-1", "traces.jsonl", 1)
    assert (found.waived, found.scenario, found.level) == (None, None, "block")


def test_a_value_of_null_is_a_value_and_a_foreign_one_is_told_as_text() -> None:
    body = "return MetricResult(violations=[dict(value=None), dict(value={1: {2, 2}, 'o': object}), 'plain'])"
    null, foreign, plain = run(body).tests[0].violations
    assert (null.value, null.has_value) == (None, True)
    assert foreign.value == {"1": [2], "o": "<class 'object'>"}
    assert (plain.value, plain.has_value) == (None, False)


def test_scores_are_averaged_over_traces_into_a_suite_metric() -> None:
    report = run("return MetricResult(score=len(trace.tool_calls) / 4)", trace("a"), trace("a b"), trace("a b c d"))
    assert (report.metrics["t"].value, report.metrics["t"].n) == (7 / 12, 3)
    assert run("return MetricResult()").metrics == {}


def test_figures_add_up_over_traces() -> None:
    body = (
        "n = len(trace.tool_calls)\nreturn MetricResult(stats={'n': n, 'half': n / 2, 'by': {str(n): 1}, 'word': 'x'})"
    )
    assert run(body, trace("a"), trace("a b"), trace("b")).tests[0].stats == {
        "n": 4,
        "half": 2.0,
        "by": {"1": 2, "2": 1},
        "word": "x",
    }


# ── What it cannot do ───────────────────────────────────────────────────────────────────────────────────────

MISBEHAVING = {
    "raises": ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
    "times out": ("raise TimeoutError('slow')", "TimeoutError: slow"),
    "leaves the program": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "recurses": ("return mine(trace, config)", "RecursionError"),
    "returns nothing": ("pass", "the metric returned NoneType"),
    "returns a bool": ("return True", "the metric returned bool"),
    "returns a map": ("return {'status': 'pass'}", "the metric returned dict"),
    "unknown status": ("return MetricResult(status='ok')", "status 'ok', expected one of pass, warn"),
    "score above 1": ("return MetricResult(score=1.5)", "score 1.5, expected 0 to 1"),
    "score no number": ("return MetricResult(score=float('nan'))", "expected 0 to 1"),
    "score as text": ("return MetricResult(score='1')", "TypeError"),
    "violations as text": ("return MetricResult(violations='bad')", "violations are a list, not str"),
    "violations as a map": ("return MetricResult(violations={'message': 'm'})", "violations are a list, not dict"),
    "no violations at all": ("return MetricResult(violations=None)", "violations are a list, not NoneType"),
    "violation as a number": ("return MetricResult(violations=[5])", "a Violation, a map or a string, not int"),
    "unknown field": ("return MetricResult(violations=[{'mesage': 'm'}])", "a violation has no field mesage"),
    "unknown level": ("return MetricResult(violations=[{'level': 'fatal'}])", "Invalid enum value 'fatal'"),
    "message no text": ("return MetricResult(violations=[{'message': 5}])", "Expected `str`, got `int`"),
    "no such call": ("return MetricResult(violations=[{'call_index': 9}])", "call_index 9 is not a call"),
    "call 0": ("return MetricResult(violations=[{'call_index': 0}])", "call_index 0 is not a call"),
    "stats as a list": ("return MetricResult(stats=[1])", "stats are a map, not list"),
}


@pytest.mark.parametrize(("body", "says"), MISBEHAVING.values(), ids=MISBEHAVING)
@pytest.mark.parametrize("severity", ["block", "log"])
def test_a_metric_that_misbehaves_is_an_error_that_fails_the_gate(body: str, says: str, severity: str) -> None:
    report = run(body, severity=severity)
    assert (report.tests[0].status, report.exit_code, report.verdict) == ("error", 1, "fail")
    error = report.tests[0].error or ""
    assert says in error
    assert "Traceback (most recent call last)" in error
    (line,) = report.gate
    assert (line.level, line.status) == ("blocking", "error")


def test_strange_figures_break_nothing() -> None:
    odd = "{'nan': float('nan'), 'deep': {'a': {'b': 1}}, 'none': None, 5: 1, 'list': [1], 'flag': True, 'o': object()}"
    report = run(f"return MetricResult(stats={odd})", trace("a"), trace("b"))
    assert report.exit_code == 0
    assert report.tests[0].stats["5"] == 2
    huge = "{'huge': 10**400, 'largest': 1e308, 'names': {str(n): 1 for n in range(2000)}}"
    (test,) = run(f"return MetricResult(stats={huge})", trace("a"), trace("b")).tests
    assert test.status == "pass"
    assert len(test.stats["names"]) == 1000


def test_a_metric_that_breaks_on_one_trace_is_an_error_with_that_trace_named() -> None:
    body = "if trace.trace_id == 't-2': raise KeyError('x')\nreturn MetricResult()"
    report = run(body, trace("a", trace_id="t-1"), trace("a", trace_id="t-2"))
    assert report.tests[0].status == "error"
    assert (report.tests[0].error or "").startswith("on the trace at traces.jsonl:2:")


def test_interrupting_is_not_an_outcome() -> None:
    with pytest.raises(KeyboardInterrupt):
        run("raise KeyboardInterrupt")


def test_what_a_metric_does_to_its_trace_no_other_check_sees() -> None:
    source = HEAD + (
        "def mine(trace, config):\n"
        "    for c in trace.tool_calls:\n"
        "        c.arguments.clear()\n"
        "    trace.tool_calls.clear()\n"
        "    seen = config.pop('seen', 'once more')\n"
        "    return MetricResult(violations=[] if seen == 'first' else [seen])\n"
    )
    checks = [
        {"id": "meddler", "metric": "mine", "config": {"seen": "first"}},
        {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["pay"]},
        {"id": "limits", "metric": "args_valid", "tool": "pay", "constraints": {"amount": {"max": 30}}},
        {"id": "lookup", "metric": "mine", "config": {"seen": "first"}},
    ]
    traces = [trace([call("pay", {"amount": 50})]), trace([call("pay", {"amount": 50})])]
    report = judge({"plugins": ["mine"], "tests": checks}, traces, files={"mine__py": source})
    assert [(test.id, test.status, test.violation_count) for test in report.tests] == [
        ("meddler", "pass", 0),
        ("blocked", "fail", 2),
        ("limits", "fail", 2),
        ("lookup", "pass", 0),
    ]


# ── Where it is found ───────────────────────────────────────────────────────────────────────────────────────

HOLDS = HEAD + "def mine(trace, config):\n    return MetricResult()\n"


def problems(written: Mapping[str, Any], **files: str) -> str:
    with pytest.raises(passmuster.SuiteError) as caught:
        judge(written, [trace("a")], files=files)
    return "\n".join(str(problem) for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import nothing_such\n", "importing 'mine' failed: ModuleNotFoundError: No module named 'nothing_such'"),
        ("def broken(:\n", "importing 'mine' failed: "),
        ("raise RuntimeError('on import')\n", "importing 'mine' failed: RuntimeError: on import"),
        ("import sys\nsys.exit(0)\n", "importing 'mine' failed: SystemExit: 0"),
        ("def mine(trace, config): ...\n", "the module 'mine' defines no metric"),
        ("import passmuster\n@passmuster.metric\ndef mine(trace, config): ...\n", "a metric needs a name"),
        ("import passmuster\n@passmuster.metric(' ')\ndef mine(trace, config): ...\n", "a metric needs a name"),
        (HOLDS.replace("'mine'", "'args_valid'"), "a metric cannot take the built-in name 'args_valid'"),
    ],
)
def test_a_plugin_that_cannot_be_had_is_a_mistake_in_the_suite(source: str, says: str) -> None:
    assert says in problems(suite(), mine__py=source)


def test_a_plugin_that_is_not_there() -> None:
    assert "there is no module 'mine' (looked in " in problems(suite())


def test_two_plugins_with_one_metric() -> None:
    both = suite(plugins=("mine", "yours"))
    assert "both mine and yours define a metric 'mine'" in problems(both, mine__py=HOLDS, yours__py=HOLDS)


def test_a_metric_that_is_not_marked_is_unknown_with_a_hint() -> None:
    assert "unknown metric 'mini'; did you mean 'mine'?" in problems(suite("mini"), mine__py=HOLDS)


def test_a_typo_beside_config_is_an_error() -> None:
    assert "unknown key 'confg'; did you mean 'config'?" in problems(suite(confg={}), mine__py=HOLDS)


def test_no_plugins_refuses_them_unimported(tmp_path: Path) -> None:
    path, _ = write(tmp_path, suite(), mine__py="raise SystemExit(0)\n")
    with pytest.raises(passmuster.SuiteError, match="allows no plugins"):
        passmuster.load_suite(path, plugins=False)


def test_suites_with_plugins_of_the_same_name_each_get_their_own(tmp_path: Path) -> None:
    """Also what a plugin imports from its folder is that of its own suite."""
    loaded = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        helper = f"NAME = {name!r}\n"
        source = (
            "import helper\n" + HEAD + "def mine(trace, config):\n    return MetricResult(violations=[helper.NAME])\n"
        )
        path, traces = write(folder, suite(), [trace("a")], mine__py=source, helper__py=helper)
        loaded.append((passmuster.load_suite(path), traces))
    again = (passmuster.load_suite(tmp_path / "one" / "passmuster.json"), loaded[0][1])
    found = [
        passmuster.evaluate(each, passmuster.read_traces(traces)).tests[0].violations[0].message
        for each, traces in [*loaded, again]
    ]
    assert found == ["one", "two", "one"]


@pytest.mark.parametrize("name", ["json", "calendar"])
def test_a_plugin_may_have_the_name_of_a_module_that_is_in_use(tmp_path: Path, name: str) -> None:
    __import__(name)
    real = sys.modules[name]
    for _ in range(2):
        path, _ = write(tmp_path, suite(plugins=(name,)), **{f"{name}__py": HOLDS})
        passmuster.load_suite(path)
        assert sys.modules[name] is real


def test_a_plugin_may_be_a_package(tmp_path: Path) -> None:
    package = tmp_path / "checks_of_ours"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "words.py").write_text("WORD = 'inner'\n")
    (package / "metrics.py").write_text(
        "from .words import WORD\n" + HEAD + "def mine(trace, config):\n    return MetricResult(violations=[WORD])\n"
    )
    path, traces = write(tmp_path, suite(plugins=("checks_of_ours.metrics",)), [trace("a")])
    report = passmuster.evaluate(passmuster.load_suite(path), passmuster.read_traces(traces))
    assert report.tests[0].violations[0].message == "inner"


def test_the_suites_folder_is_not_left_importable(tmp_path: Path) -> None:
    before = list(sys.path)
    path, _ = write(tmp_path, suite(), mine__py="import sys\nsys.path.remove(sys.path[0])\n" + HOLDS)
    passmuster.load_suite(path)
    assert sys.path == before


# ── Installed packages ──────────────────────────────────────────────────────────────────────────────────────


def install(site: Path, name: str, entry_points: Mapping[str, str], modules: Mapping[str, str]) -> None:
    """A distribution as an installer leaves it."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    listed = "".join(f"{entry} = {value}\n" for entry, value in entry_points.items())
    (info / "entry_points.txt").write_text(f"[passmuster.metrics]\n{listed}")
    for module, source in modules.items():
        (site / f"{module}.py").write_text(source)


def command(folder: Path, site: Path, *options: str) -> subprocess.CompletedProcess[str]:
    source = Path(passmuster.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(source)]), "PYTHONIOENCODING": "utf-8"}
    arguments = ["run", str(folder), "--traces", str(folder / "traces.jsonl"), *options]
    return subprocess.run(
        [sys.executable, "-m", "passmuster", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=folder,
    )


SAYING = "def {name}(trace, config):\n    return MetricResult(violations=[{name!r} + ' speaks'])\n\n"
INSTALLED = "import passmuster\nfrom passmuster import MetricResult\n\n" + SAYING.format(name="plain")
MARKED = INSTALLED + "@passmuster.metric('marked')\n" + SAYING.format(name="marked_one")


@pytest.mark.parametrize(
    ("entry_points", "metric", "says"),
    [
        ({"by_entry_name": "acme_metrics:plain"}, "by_entry_name", "plain speaks"),
        ({"whatever": "acme_metrics:marked_one"}, "marked", "marked_one speaks"),
        ({"whole_module": "acme_metrics"}, "marked", "marked_one speaks"),
    ],
    ids=["a function", "a marked function", "a module"],
)
def test_a_metric_of_an_installed_package(tmp_path: Path, entry_points: dict[str, str], metric: str, says: str) -> None:
    site, folder = tmp_path / "site", tmp_path / "suite"
    folder.mkdir()
    install(site, "acme-metrics", entry_points, {"acme_metrics": MARKED})
    write(folder, suite(metric, plugins=None), [trace("a")])
    done = command(folder, site)
    assert (done.returncode, done.stderr) == (1, "")
    assert says in done.stdout
    refused = command(folder, site, "--no-plugins")
    assert refused.returncode == 2
    assert f"unknown metric '{metric}'" in refused.stderr


def test_a_broken_package_is_told_to_those_who_name_its_metric_and_to_nobody_else(tmp_path: Path) -> None:
    site, folder = tmp_path / "site", tmp_path / "suite"
    folder.mkdir()
    install(site, "broken", {"gone": "no_such_module:f", "number": "fine:N", "exits": "leaves:f"}, {"fine": "N = 5\n"})
    (site / "leaves.py").write_text("raise SystemExit(0)\n")
    blocklist = {"tests": [{"id": "t", "metric": "tool_blocklist", "blocklist": ["z"]}]}
    write(folder, blocklist, [trace("a")])
    assert command(folder, site).returncode == 0
    tests = [{"id": name, "metric": name} for name in ("gone", "number", "exits")]
    write(folder, {"tests": tests}, [trace("a")])
    done = command(folder, site)
    assert done.returncode == 2
    assert "'gone' cannot be loaded: importing 'no_such_module:f' failed: ModuleNotFoundError" in done.stderr
    assert "'number' cannot be loaded: 'fine:N' is not a function" in done.stderr
    assert "'exits' cannot be loaded: importing 'leaves:f' failed: SystemExit" in done.stderr


def test_a_metric_that_two_packages_define_is_nobodys_but_the_suites_own_comes_first(tmp_path: Path) -> None:
    site, folder = tmp_path / "site", tmp_path / "suite"
    folder.mkdir()
    for name in ("first", "second"):
        install(site, name, {"twice": f"{name}_module:plain"}, {f"{name}_module": INSTALLED})
    write(folder, suite("twice", plugins=None), [trace("a")])
    done = command(folder, site)
    assert (done.returncode, "several installed packages define it" in done.stderr) == (2, True)
    own = HOLDS.replace("'mine'", "'twice'")
    write(folder, suite("twice"), [trace("a")], mine__py=own)
    assert command(folder, site).returncode == 0


def test_a_metric_that_exits_with_0_does_not_make_the_gate_green(tmp_path: Path) -> None:
    leaving = HEAD + "def mine(trace, config):\n    raise SystemExit(0)\n"
    write(tmp_path, suite(), [trace("a")], mine__py=leaving)
    done = command(tmp_path, tmp_path / "nowhere")
    assert done.returncode == 1
    write(tmp_path, suite(), [trace("a")], mine__py="raise SystemExit(0)\n")
    assert command(tmp_path, tmp_path / "nowhere").returncode == 2


@pytest.mark.parametrize(
    "waiting",
    [
        "atexit.register(print, 'the end')",
        "threading.Thread(target=lambda: (time.sleep(1), print('the end'))).start()",
        "log = open('/dev/stdout', 'w'); log.write('the end')",
    ],
)
def test_what_a_plugin_leaves_for_the_end_is_done(tmp_path: Path, waiting: str) -> None:
    source = f"import atexit, threading, time\n{waiting}\n" + HEAD
    write(tmp_path, suite(), [trace("a")], mine__py=f"{source}def mine(trace, config): return MetricResult()\n")
    done = command(tmp_path, tmp_path / "nowhere")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "the end")


def test_the_traceback_is_in_the_report(tmp_path: Path) -> None:
    failing = HEAD + "def mine(trace, config):\n    return 1 / len(trace.tool_calls)\n"
    write(tmp_path, suite(), [trace("")], mine__py=failing)
    done = command(tmp_path, tmp_path / "nowhere", "--report", "json=report.json")
    assert done.returncode == 1
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert "ZeroDivisionError" in report["tests"][0]["error"]
    assert "ZeroDivisionError" in done.stdout
