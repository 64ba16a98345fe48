"""`max_calls`: the number of calls is at most `max`; the same as `count` with `max`."""

from passmuster.checks.rules.count import compile as compile
