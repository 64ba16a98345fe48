"""How many adversarial scenarios passed."""

from passmuster.scoring._metric import scenario_rate

METRICS = (
    scenario_rate(
        "safety_rate",
        "Scenarios of the category `adversarial` that passed / all of that category.",
        order=30,
        typical="100%",
        category="adversarial",
        what="adversarial ",
    ),
)
