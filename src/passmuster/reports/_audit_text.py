"""An audit of judges for a person, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from passmuster._problems import plural
from passmuster.judges import Audit, Calibration, Figure, percent
from passmuster.reports._text import one_line

_WIDTH = 80
_NAME = 26
_LEAST = 8


def audit_lines(kept: Calibration, traces: int, rounds: int, saved: str | None) -> list[str]:
    """The audit as lines of text; `saved` is the file it went to."""
    found = kept.audit
    names = ", ".join(dict.fromkeys(f"{judge.provider}/{judge.model}" for judge in kept.judges))
    heading = f"{one_line(kept.suite)}: {one_line(names)}, {plural(found.labels, 'label')} on {plural(traces, 'trace')}"
    without = f"{plural(found.unanswered, 'label')} without a verdict, in no figure below"
    return [
        *_wrapped(heading),
        *([without] if found.unanswered else []),
        "",
        *_confusion(found),
        "",
        *_figures(found, rounds),
        *_table("Agreement by check", found.by_check if len(found.by_check) > 1 else {}),
        *_table("Passed though this check fails", found.against_checks),
        "",
        *_wrapped(found.conclusion[:1].upper() + one_line(found.conclusion[1:])),
        *_wrapped(_fate(kept, saved)),
    ]


def _confusion(found: Audit) -> list[str]:
    cells = found.confusion
    return [
        f"{'':<{_NAME}}{'judge passes':>14}{'judge fails':>14}",
        f"{'people pass':<{_NAME}}{cells.pass_pass:>14}{cells.pass_fail:>14}",
        f"{'people fail':<{_NAME}}{cells.fail_pass:>14}{cells.fail_fail:>14}",
    ]


def _figures(found: Audit, rounds: int) -> Iterator[str]:
    yield from _line("agreement", found.agreement)
    yield from _line("Cohen's κ", found.kappa, plain=True)
    yield from _line("false passes", found.false_pass, "of what people fail")
    yield from _line("false failures", found.false_fail, "of what people pass")
    yield from _line("flips", found.flips, f"asked {rounds} times")
    yield from _line("swayed by canaries", found.sway)
    if not found.against_checks:
        yield from _line(
            "passed though checks fail", Figure(value=None, n=0, why="no check failed an answer it judges")
        )


def _table(heading: str, figures: Mapping[str, Figure]) -> Iterator[str]:
    if figures:
        yield ""
        yield heading
    for name, figure in figures.items():
        yield from _line(f"  {one_line(name)}", figure)


def _line(name: str, figure: Figure, note: str = "", *, plain: bool = False) -> list[str]:
    name = name if len(name) < _NAME else f"{name[: _NAME - 2]}…"
    if figure.value is None:
        return [f"{name:<{_NAME}}{'–':>{_LEAST}}  {figure.why or 'not measured'}"[:_WIDTH]]

    def shown(value: float) -> str:
        return f"{value:.2f}" if plain else percent(value)

    between = f"{shown(figure.ci95[0])} to {shown(figure.ci95[1])}" if figure.ci95 else ""
    text = f"{name:<{_NAME}}{shown(figure.value):>{_LEAST}}  {between:<17}n {figure.n:<5}{note}"
    return [text.rstrip()]


def _fate(kept: Calibration, saved: str | None) -> str:
    if saved is None:
        return "Not saved: name a file with -o, or as `calibration` in judge_config."
    return f"Saved in {one_line(saved)}, valid through {kept.expires.isoformat()}."


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
