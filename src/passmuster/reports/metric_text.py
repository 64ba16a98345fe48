"""A metric's value as people read it: `90.0%`, `$0.0125`, `840 ms`."""

from __future__ import annotations

from passmuster.scoring.comparison import MetricChange, Unit

__all__ = ["change_text", "interval_text", "value_text"]

_VAST = 1e12


def value_text(value: float | None, unit: Unit) -> str:
    """The value with its unit; `–` where there is none."""
    if value is None:
        return "–"
    if abs(value) >= _VAST:
        return f"{value:.4g}"
    match unit:
        case "rate":
            return f"{value * 100:.1f}%"
        case "usd":
            return f"${value:,.4f}" if abs(value) < 1 else f"${value:,.2f}"
        case "ms":
            return f"{value:,.0f} ms"
        case "tokens":
            return f"{value:,.0f}"
        case _:
            return f"{value:.4g}"


def interval_text(ci95: tuple[float, float] | None, unit: Unit) -> str:
    """`60.0%–98.0%`, or nothing."""
    return "" if ci95 is None else f"{value_text(ci95[0], unit)}–{value_text(ci95[1], unit)}"


def change_text(metric: MetricChange) -> str:
    """How much it changed: in points for rates, else as a part of what it was; nothing where it cannot be said."""
    if metric.difference is None or not metric.difference:
        return ""
    if metric.unit == "rate":
        return f"{_signed(metric.difference * 100, '.1f')} points"
    if metric.relative is not None:
        return f"{_signed(metric.relative * 100, '.1f')}%"
    return _signed(metric.difference, ".4g")


def _signed(number: float, form: str) -> str:
    return f"{'+' if number > 0 else '−'}{abs(number):{form}}"
