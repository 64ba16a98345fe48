"""The price list that a suite names: its version, and traces with the cost that they do not record."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError
from passmuster.scoring import Settings
from passmuster.suite import Suite

if TYPE_CHECKING:
    from passmuster.traces import PriceList


def price_list(suite: Suite, today: datetime.date) -> PriceList | None:
    """The price list of a suite; None where it names none. Raises `SuiteError` where it is not installed."""
    if suite.prices is None:
        return None
    from passmuster.traces import PriceList  # late, for few suites ask for it

    try:
        return PriceList(today)
    except ImportError as error:
        message = "'prices: genai-prices' needs another package: pip install 'passmuster[prices]'"
        raise SuiteError(Problem(message, suite.file)) from error


def with_prices(suite: Suite, settings: Settings) -> Settings:
    """The settings; `prices` is the version of the price list that the suite names."""
    prices = price_list(suite, settings.today)
    return settings if prices is None else replace(settings, prices=prices.version)
