"""The metrics of a whole suite by name: which way is better, what they are counted in, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from passmuster.suite.model import Test

__all__ = ["BUILT_IN_CHECKS", "METRICS", "MetricName", "known_metrics"]

BUILT_IN_CHECKS = ("args_valid", "sequence_valid", "tool_blocklist")
"""Checks without a score. A test of any other kind may have one, which is a metric under the test's id."""


class MetricName(Struct, frozen=True):
    """A metric as a suite can name it."""

    name: str
    better: Literal["up", "down"]
    rate: bool
    """Whether it lies in 0 to 1 and is shown in percent."""
    unit: str = ""
    interval: bool = True
    """Whether an interval of confidence is defined for it."""


METRICS: dict[str, MetricName] = {
    metric.name: metric
    for metric in (
        MetricName("pass_rate", "up", True),
        MetricName("weighted_pass_rate", "up", True),
        MetricName("accuracy", "up", True),
        MetricName("precision", "up", True),
        MetricName("recall", "up", True),
        MetricName("f1", "up", True),
        MetricName("safety_rate", "up", True),
        MetricName("behavior_coverage", "up", True),
        MetricName("weighted_behavior_coverage", "up", True),
        MetricName("latency_p50", "down", False, "ms"),
        MetricName("latency_p95", "down", False, "ms"),
        MetricName("latency_p99", "down", False, "ms"),
        MetricName("token_efficiency", "up", False),
        MetricName("total_cost_usd", "down", False, "USD", interval=False),
        MetricName("mean_cost_usd", "down", False, "USD"),
        MetricName("total_tokens", "down", False, "tokens", interval=False),
        MetricName("normalized_latency", "down", True, interval=False),
        MetricName("weighted_score", "up", True, interval=False),
    )
}


def known_metrics(tests: Iterable[Test]) -> dict[str, MetricName]:
    """Every metric that a suite with these tests can name: the built-in ones, and the scores of its custom metrics."""
    scored = [test.id for test in tests if test.id and test.metric not in BUILT_IN_CHECKS]
    return {**{id_: MetricName(id_, "up", True) for id_ in scored}, **METRICS}
