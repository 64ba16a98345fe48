"""Scenario layers: `answer` (the key `correctness`), `path` and `cost`, one module per key.

A module `compile`s its value into a check. One without `compile` is an option that another check reads.
"""
