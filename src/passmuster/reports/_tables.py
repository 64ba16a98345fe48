"""Rows of text in columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell; a column without any text is left out."""
    every = list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width).rstrip() for row in every
    ]


def cut(text: str, width: int) -> str:
    """The text, ended with `…` where it is longer than that."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
