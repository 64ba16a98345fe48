"""What a live run may cost."""

from __future__ import annotations

from collections.abc import Callable

from passmuster.agents._run import FinishedRun
from passmuster.traces import Trace, total_cost_usd


class Budget:
    """Adds up what runs cost, and says when no further one may start.

    A failed run that does not tell its cost counts as much as the dearest of the others.
    """

    def __init__(self, most_usd: float | None, priced: Callable[[Trace], Trace] | None = None) -> None:
        """`priced` fills in what runs cost by a price list."""
        self._most, self._priced = most_usd, priced
        self.spent = 0.0
        self.known = False
        """Whether any run told its cost."""
        self._dearest = 0.0
        self._silent: str | None = None

    def add(self, run: FinishedRun) -> None:
        """Count a run."""
        cost = total_cost_usd(self._priced(run.trace) if self._priced else run.trace)
        if cost is not None:
            self.known = True
            self._dearest = max(self._dearest, cost)
        elif run.trace.error is None:
            self._silent = self._silent or run.planned.name
        self.spent += self._dearest if cost is None else cost

    def exhausted(self, running: int) -> str | None:
        """Why no further run may start beside those that are running; None where one may."""
        if self._most is None:
            return None
        if self._silent is not None:
            hint = "" if self._priced else "; 'prices: genai-prices' in the suite works it out from tokens"
            silent = f"run {self._silent} does not tell what it cost"
            return f"{silent}, so --max-cost-usd {self._most:g} cannot be kept{hint}"
        if self.spent >= self._most or (running and self.spent + (running + 1) * self._dearest > self._most):
            return f"${self.spent:.4g} of --max-cost-usd {self._most:g} are spent"
        return None
