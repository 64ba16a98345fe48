"""What repeated runs of one scenario say about k tries: that one of them passes, or all."""

from __future__ import annotations

from math import comb


def pass_at_k(runs: int, passed: int, k: int) -> float | None:
    """The chance that at least one of k runs passes: 1 - C(n-c, k) / C(n, k), unbiased (Chen et al., 2021).

    No number where k is more than there are runs.
    """
    _check(runs, passed, k)
    if k > runs:
        return None
    total = comb(runs, k)
    return (total - comb(runs - passed, k)) / total


def pass_hat_k(runs: int, passed: int, k: int) -> float | None:
    """The chance that all of k runs pass: C(c, k) / C(n, k), unbiased (Yao et al., 2024, pass^k).

    No number where k is more than there are runs.
    """
    _check(runs, passed, k)
    if k > runs:
        return None
    return comb(passed, k) / comb(runs, k)


def _check(runs: int, passed: int, k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}; it has to be at least 1")
    if not 0 <= passed <= runs:
        raise ValueError(f"{passed} of {runs} runs cannot have passed")
