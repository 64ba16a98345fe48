"""How many scenarios gave the right answer."""

from passmuster.scoring._metric import scenario_rate
from passmuster.scoring._scenario_runs import ScenarioRuns

METRICS = (
    scenario_rate(
        "accuracy",
        "Scenarios whose correctness holds / scenarios that state it.",
        order=10,
        typical=">= 95%",
        what="correctness-stating ",
        states=lambda scenario: scenario.states_correctness,
        runs=ScenarioRuns.correct_runs,
        recorded=lambda one: one.correct,
        way="correctness",
    ),
)
