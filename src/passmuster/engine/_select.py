"""The part of a suite that `--only` and `--tag` ask for."""

from __future__ import annotations

from msgspec.structs import replace

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.suite import Suite, glob_matcher


def select(suite: Suite, only: tuple[str, ...], tags: tuple[str, ...]) -> Suite:
    """The suite with only the tests and scenarios asked for. Raises `UsageError` where a word selects nothing."""
    if not only and not tags:
        return suite
    ids = [*(test.id for test in suite.tests), *(scenario.id for scenario in suite.scenarios)]
    known_tags = {tag for test in suite.tests for tag in test.tags or ()}
    known_tags |= {tag for scenario in suite.scenarios for tag in scenario.tags}
    problems = [
        Problem(f"--only {pattern} selects no test and no scenario{did_you_mean(pattern, ids)}")
        for pattern in only
        if not any(glob_matcher(pattern)(id_) for id_ in ids)
    ]
    problems += [
        Problem(f"--tag {tag} is on no test and no scenario{did_you_mean(tag, known_tags)}")
        for tag in tags
        if tag not in known_tags
    ]
    tests = tuple(test for test in suite.tests if _chosen(test.id, test.tags, only, tags))
    scenarios = tuple(
        replace(one, selected=one.selected and _chosen(one.id, one.tags, only, tags)) for one in suite.scenarios
    )
    if not problems and not tests and not any(scenario.selected for scenario in scenarios):
        problems.append(Problem("--only and --tag together select nothing"))
    if problems:
        raise UsageError(problems)
    return replace(suite, tests=tests, scenarios=scenarios)


def _chosen(id_: str, own: tuple[str, ...] | None, only: tuple[str, ...], tags: tuple[str, ...]) -> bool:
    named = not only or any(glob_matcher(pattern)(id_) for pattern in only)
    return named and (not tags or not set(tags).isdisjoint(own or ()))
