"""The engine: a suite compiled into a plan, and the executors that run it over traces."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.engine._auditing import Docket as Docket
    from passmuster.engine._auditing import docket_of as docket_of
    from passmuster.engine._baselines import baseline_for as baseline_for
    from passmuster.engine._baselines import baseline_path as baseline_path
    from passmuster.engine._baselines import read_baseline as read_baseline
    from passmuster.engine._baselines import record as record
    from passmuster.engine._judging import judge_config as judge_config
    from passmuster.engine._judging import open_judges as open_judges
    from passmuster.engine._load_suite import load_suite as load_suite
    from passmuster.engine._parts import Part as Part
    from passmuster.engine._parts import worker_count as worker_count
    from passmuster.engine._ratchet import ratchet as ratchet
    from passmuster.engine._run import compared_with as compared_with
    from passmuster.engine._run import evaluate as evaluate
    from passmuster.engine._run import judge as judge
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_auditing": ("Docket", "docket_of"),
            "_baselines": ("baseline_for", "baseline_path", "read_baseline", "record"),
            "_judging": ("judge_config", "open_judges"),
            "_load_suite": ("load_suite",),
            "_parts": ("Part", "worker_count"),
            "_ratchet": ("ratchet",),
            "_run": ("compared_with", "evaluate", "judge"),
        },
    )
