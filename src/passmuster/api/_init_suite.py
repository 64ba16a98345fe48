"""A first suite: learned from traces, or the example."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from passmuster import engine
from passmuster._problems import Problem, TraceError, UsageError
from passmuster.api._learned_rules import learn
from passmuster.api._learned_suite import SuiteText, possible_thresholds
from passmuster.api._observed_traces import Observed
from passmuster.api._options import RunOptions
from passmuster.api._output_files import create_files
from passmuster.api._show_traces import SourceOptions, trace_sources
from passmuster.redaction import shaped_spans
from passmuster.reports import FORMATS
from passmuster.scoring import Report
from passmuster.suite import SUITE_NAMES
from passmuster.traces import BadLines, Source, read_source

SUITE = "passmuster.yaml"
_EXAMPLE = (SUITE, "policies/customer.yaml", "traces/good.jsonl")


class Initialized(Struct, frozen=True):
    """What was written, and what was learned from traces; without traces, the example was copied."""

    files: tuple[str, ...]
    traces: int = 0
    tools: int = 0
    order_rules: int = 0
    scenarios: int = 0
    only_warned: tuple[str, ...] = ()
    """What too few traces bear out to fail a run for it."""
    verdict: str = "pass"
    """That of the suite on the traces it was learned from."""


def init_suite(paths: Sequence[str], options: SourceOptions, *, folder: str = ".") -> Initialized:
    """Write `passmuster.yaml` and its policies to a folder; nothing that exists is overwritten.

    Raises `UsageError` where a file is in the way, and then writes nothing.
    """
    here = Path(folder).resolve()
    if here.exists() and not here.is_dir():
        raise UsageError(Problem("this is not a folder", folder))
    in_the_way = [name for name in SUITE_NAMES if (here / name).exists()]
    if in_the_way:
        message = "there is a suite here already, which init does not overwrite; name another folder"
        raise UsageError([Problem(message, _shown(folder, name)) for name in in_the_way])
    if not paths:
        example = files("passmuster") / "example"
        create_files(Path(folder), {name: example.joinpath(name).read_bytes() for name in _EXAMPLE})
        return Initialized(tuple(_shown(folder, name) for name in _EXAMPLE))
    with trace_sources(paths, options.format) as sources:
        observed = _observe(sources, options)
        text = SuiteText(here.name or "agent", _named(paths, here), observed, learned := learn(observed))
        documents = {SUITE: text.suite(possible_thresholds(bool(text.tasks))), **text.policies}
        draft = _evaluate(here, documents, sources, options)
        reached = [line.id for line in draft.gate if line.kind == "threshold" and line.status == "pass"]
        reached = [name for name in reached if draft.metrics[name].total is None]  # else some traces lack the figure
        cost = draft.metrics["mean_cost_usd"].value if "mean_cost_usd" in draft.metrics else None
        documents[SUITE] = text.suite(reached, cost)
        _refuse_secrets(documents, folder)
        report = _evaluate(here, documents, sources, options)
    create_files(Path(folder), {name: document.encode() for name, document in reversed(documents.items())})
    return Initialized(
        tuple(_shown(folder, name) for name in documents),
        traces=observed.traces,
        tools=len(observed.tools),
        order_rules=len(learned.order),
        scenarios=len(text.tasks),
        only_warned=text.only_warned,
        verdict=report.verdict,
    )


def _observe(sources: list[Source], options: SourceOptions) -> Observed:
    observed = Observed()
    unwrap = engine.Unwrapper(None, options.accept_loss)
    for source in sources:
        for trace in read_source(source, BadLines(source, options.skip_bad_lines, options.accept_loss)):
            observed.add(unwrap(trace, []) if trace.wrapped else trace)
    if not observed.traces:
        raise TraceError(Problem("no trace found, so there is nothing to learn from"))
    return observed


def _refuse_secrets(documents: dict[str, str], folder: str) -> None:
    """Raises `UsageError` where a name in the traces, of a tool or an argument, brought a secret into the suite."""
    message = "the name of a tool or argument holds a secret; hide it in the traces first: passmuster import --redact"
    problems = [Problem(message, _shown(folder, name)) for name, text in documents.items() if shaped_spans(text)]
    if problems:
        raise UsageError(problems)


def _evaluate(here: Path, documents: dict[str, str], sources: list[Source], options: SourceOptions) -> Report:
    """The verdict of the suite, before it is written, on the traces it was learned from."""
    read = {str(here / name): text.encode() for name, text in documents.items()}
    suite = engine.load_suite(here / SUITE, documents=read, report_formats=FORMATS)
    settings = RunOptions(skip_bad_lines=options.skip_bad_lines, accept_loss=options.accept_loss).settings
    execution = engine.Execution(workers=engine.worker_count(None, sources))
    return engine.evaluate_sources(suite, sources, settings, execution=execution)


def _named(paths: Sequence[str], here: Path) -> list[str]:
    """The traces as the suite names them: relative to it, but for addresses and what was given as an absolute path."""
    return [_as_named(path, here) for path in paths if path != "-"]


def _as_named(path: str, here: Path) -> str:
    if "://" in path or (os.path.isabs(path) and not Path(path).is_relative_to(here)):
        return path
    return Path(os.path.relpath(Path.cwd().resolve() / path, here)).as_posix()


def _shown(folder: str, name: str) -> str:
    """A file of the suite as seen from the current folder."""
    return (Path(folder) / name).as_posix()
