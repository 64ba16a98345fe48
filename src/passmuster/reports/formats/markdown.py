"""The report for a pull request: Markdown that fits a comment, the most important first, details folded.

Whatever comes from a suite or a trace stands in code spans and code blocks, where a host reads no markup, no HTML, no
mention, no reference and no link. Their fences are longer than any run of backticks inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from passmuster._problems import plural
from passmuster.reports._cases import Case, cases
from passmuster.reports._details import case_title, full_texts, reason_line
from passmuster.reports._group_text import sweep_lines
from passmuster.reports._last_line import next_step, verdict_sentence
from passmuster.reports._overview import category_cells, fact_lines, metric_cells
from passmuster.reports._reasons import reasons
from passmuster.reports._text import cut, one_line
from passmuster.reports._warnings import warning_lines
from passmuster.scoring import Report

FILE_NAME = "report.md"
DESCRIPTION = "For pull requests and job summaries: Markdown of at most 65,000 characters, details folded."

LIMIT = 65_000
"""Characters, as UTF-16 counts them; a comment on GitHub holds 65,536."""
_RESERVE = 200
"""For the lines that say how much was left out."""
_ITEM = 1_000
_BLOCK = 6_000
"""Characters of one line, and of one folded block."""
_ROWS = 40
_REASONS, _DETAILS = 0.4, 0.8
"""The shares of the room up to which reasons and details are added; warnings may take the rest."""
_MARKS = {"pass": "✅ Passed", "warn": "✅ Passed with warnings", "fail": "❌ Failed", "error": "❌ Not decided"}


def write(report: Report) -> bytes:
    """The report as Markdown in UTF-8."""
    return text_of(report).encode("utf-8", "backslashreplace")


def text_of(report: Report, limit: int = LIMIT) -> str:
    """The report as Markdown of at most so many characters."""
    all_cases = cases(report)
    blocking = reasons(report, all_cases)
    head = [
        f"<!-- passmuster:{_identity(report)} -->",
        f"## {_MARKS[report.verdict]}: {_code(report.suite, 200)}",
        "",
        _code(verdict_sentence(report, all_cases), _ITEM),
        "",
        f"{_code(report.suite_file, 400)}: {_counts(report)}",
        "",
        f"**Next:** {_code(next_step(report, all_cases).partition('. ')[2].removeprefix('Next: '), _ITEM)}",
    ]
    tail = [*_figures(report), "", _footer(report)]
    page = _Page(limit - _size("\n".join([*head, *tail])) - _RESERVE)
    page.add_items(
        "What blocks", [_code(reason_line(case).partition(": ")[2], _ITEM) for case in blocking], _REASONS, "reason"
    )
    page.add_blocks(blocking)
    warnings = [_code(text.removeprefix("⚠ "), _ITEM) for text, _ in warning_lines(report, all_cases)]
    page.add_items("Warnings", warnings, 1.0, "warning")
    return "\n".join([*head, *page.lines, *tail]) + "\n"


class _Page:
    """The part of the report that is filled while there is room."""

    def __init__(self, room: int) -> None:
        self.lines: list[str] = []
        self.room, self.used = room, 0

    def _add(self, lines: list[str], share: float) -> bool:
        size = _size("\n".join(lines)) + 1
        if self.used + size > self.room * share:
            return False
        self.lines += lines
        self.used += size
        return True

    def add_items(self, title: str, items: list[str], share: float, noun: str) -> None:
        """A list with a heading."""
        if not items or not self._add(["", f"### {title}", ""], 1.0):
            return
        for number, item in enumerate(items):
            if not self._add([f"- {item}"], share):
                self.lines.append(f"- … and {plural(len(items) - number, f'more {noun}')}")
                return

    def add_blocks(self, blocking: list[Case]) -> None:
        """A folded block for each case that blocks."""
        sourced = [case for case in blocking if case.source]
        if not sourced or not self._add(["", "### Details"], 1.0):
            return
        for number, case in enumerate(sourced):
            block = ["", "<details>", f"<summary>{_html(case_title(case))}</summary>", "", *_fenced(_block(case)), ""]
            if not self._add([*block, "</details>"], _DETAILS):
                self.lines += ["", f"… and details of {len(sourced) - number} more, in the other reports"]
                return


def _block(case: Case) -> list[str]:
    """A case in full, as far as it fits one block."""
    lines: list[str] = []
    used = 0
    texts = full_texts(case)
    for number, text in enumerate(texts):
        used += sum(len(line) + 1 for line in text)
        if used > _BLOCK and number:
            return [*lines, "", f"… and {len(texts) - number} more, in the other reports"]
        lines += [*([""] if number else []), *(cut(line, _ITEM) for line in text)]
    return lines


def _figures(report: Report) -> Iterator[str]:
    for title, rows in (("Categories", category_cells(report)), ("Metrics", metric_cells(report))):
        if rows:
            more = len(rows) - 1 - _ROWS
            yield from ("", f"<details><summary>{title}</summary>", "", *_table(rows[: _ROWS + 1]))
            yield from ([f"… and {more} more", ""] if more > 0 else [""])
            yield "</details>"
    if sweep := sweep_lines(report):
        shown = [cut(line, 200) for line in sweep[:_ROWS]]
        yield from ("", "<details><summary>Groups and estimates</summary>", "", *_fenced(shown), "", "</details>")
    facts = list(fact_lines(report))
    if facts:
        yield ""
        yield from (f"- {_code(fact, _ITEM)}" for fact in facts[:_ROWS])


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """A table, without the columns that no row has; a pipe would end a cell, even in code."""
    kept = [place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])]
    head, *body = rows
    yield f"| {' | '.join(head[place] for place in kept)} |"
    yield f"|{'|'.join('---' if place == 0 else '---:' for place in kept)}|"
    for row in body:
        yield f"| {' | '.join(_code(row[place].replace('|', '¦'), 200) if row[place] else '' for place in kept)} |"


def _footer(report: Report) -> str:
    digest = re.sub(r"[^0-9a-f]", "", report.provenance.suite_sha256)[:12]
    return f"<sub>passmuster {_html(report.provenance.version)}, suite <code>{digest}</code></sub>"


def _counts(report: Report) -> str:
    version = f", agent {_code(report.agent_version, 100)}" if report.agent_version else ""
    return f"{plural(report.traces.evaluated, 'trace')}{version}{' (partial run)' if report.partial else ''}"


def _identity(report: Report) -> str:
    """What tells the comment of one suite from that of another."""
    import hashlib  # late: other formats do not need it

    return hashlib.sha256(f"{report.suite}\0{report.suite_file}".encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _code(text: str, most: int) -> str:
    """The text as a code span: nothing in it is markup."""
    text = cut(one_line(text), most).strip() or " "
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if "`" in text or not text.strip() else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _fenced(lines: Iterable[str]) -> list[str]:
    safe = [one_line(line) for line in lines]
    fence = "`" * max(3, max(map(_longest_run, safe), default=0) + 1)
    return [f"{fence}text", *safe, fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _html(text: str) -> str:
    """The text in a code element; each sign is a reference, which is never read as markup."""
    safe = re.sub(r"[^\w ]", lambda found: f"&#{ord(found[0])};", cut(one_line(text), 200))
    return f"<code>{safe}</code>"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
