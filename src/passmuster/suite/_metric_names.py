"""The metrics of a whole suite by name: which way is better, what they are counted in, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from passmuster.suite._model import Test

__all__ = ["BUILT_IN_CHECKS", "METRICS", "MetricName", "known_metrics", "metric_named"]

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
    tokens: int = 1
    """Per how many tokens it is shown, where it is counted per token: a single one buys little."""

    @property
    def shown_unit(self) -> str:
        """What stands behind a number that is shown."""
        return self.unit if self.tokens == 1 else f"per {self.tokens:,} tokens"


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
        MetricName("token_efficiency", "up", False, tokens=1000),
        MetricName("total_cost_usd", "down", False, "USD", interval=False),
        MetricName("mean_cost_usd", "down", False, "USD"),
        MetricName("total_tokens", "down", False, "tokens", interval=False),
        MetricName("normalized_latency", "down", True, interval=False),
        MetricName("weighted_score", "up", True, interval=False),
    )
}


def metric_named(name: str) -> MetricName:
    """What is known of a metric. Any other name is that of a custom metric, whose score is a rate: more is better."""
    return METRICS.get(name) or MetricName(name, "up", True)


def known_metrics(tests: Iterable[Test]) -> dict[str, MetricName]:
    """Every metric that a suite with these tests can name: the built-in ones, and the scores of its custom metrics."""
    scored = [test.id for test in tests if test.id and test.metric not in BUILT_IN_CHECKS]
    return {**{id_: metric_named(id_) for id_ in scored}, **METRICS}
