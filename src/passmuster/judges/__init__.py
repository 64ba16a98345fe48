"""LLM judges: clients, prompts, the verdict cache, calibration and audits."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.judges._asking import Judges, Mode, ask_all
    from passmuster.judges._audit import MOST_UNANSWERED, Audit, Figure, Overruled, Rated, audit, percent
    from passmuster.judges._cache import cache_path
    from passmuster.judges._calibration import Calibration, calibration_of, calibration_path, why_invalid
    from passmuster.judges._canaries import sway
    from passmuster.judges._config import JUDGE_CONFIG, JudgeConfig, config_of
    from passmuster.judges._labels import Label, read_labels
else:
    __getattr__ = lazy_exports(__name__)
