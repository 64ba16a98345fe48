"""LLM judges: clients, prompts, the verdict cache, calibration and audits."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.judges._asking import Judges as Judges
    from passmuster.judges._asking import Mode as Mode
    from passmuster.judges._audit import MOST_UNANSWERED as MOST_UNANSWERED
    from passmuster.judges._audit import Audit as Audit
    from passmuster.judges._audit import Figure as Figure
    from passmuster.judges._audit import Overruled as Overruled
    from passmuster.judges._audit import Rated as Rated
    from passmuster.judges._audit import audit as audit
    from passmuster.judges._audit import percent as percent
    from passmuster.judges._calibration import Calibration as Calibration
    from passmuster.judges._calibration import calibration_of as calibration_of
    from passmuster.judges._calibration import calibration_path as calibration_path
    from passmuster.judges._calibration import why_invalid as why_invalid
    from passmuster.judges._config import JUDGE_CONFIG as JUDGE_CONFIG
    from passmuster.judges._config import JudgeConfig as JudgeConfig
    from passmuster.judges._config import config_of as config_of
    from passmuster.judges._labels import Label as Label
    from passmuster.judges._labels import read_labels as read_labels
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_asking": ("Judges", "Mode"),
            "_audit": ("Audit", "Figure", "MOST_UNANSWERED", "Overruled", "Rated", "audit", "percent"),
            "_calibration": ("Calibration", "calibration_of", "calibration_path", "why_invalid"),
            "_config": ("JUDGE_CONFIG", "JudgeConfig", "config_of"),
            "_labels": ("Label", "read_labels"),
        },
    )
