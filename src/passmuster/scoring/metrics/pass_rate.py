"""How many scenarios passed."""

from passmuster.scoring._metric import scenario_rate

METRICS = (
    scenario_rate("pass_rate", "Scenarios that passed / all scenarios.", order=0, typical=">= 85%"),
    scenario_rate(
        "weighted_pass_rate", "The weights of the scenarios that passed / all weights.", order=1, weighted=True
    ),
)
