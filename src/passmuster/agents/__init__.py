"""Running agents: how a suite says to run one, the runners, and the order in which runs take place."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.agents._budget import Budget
    from passmuster.agents._config import AGENT_VALUES, CommandAgent, HttpAgent, LiveAgent, PythonAgent, agent_of
    from passmuster.agents._live import LiveEnd, check_agent, run_agent
    from passmuster.agents._order import random_order
    from passmuster.agents._plan_runs import planned_runs
    from passmuster.agents._process import end_leftovers
    from passmuster.agents._run import FinishedRun, PlannedRun, StopRule
    from passmuster.agents._runs_file import LivePlan, RunsFile, runs_file
    from passmuster.agents.capture import CaptureServer
else:
    __getattr__ = lazy_exports(__name__)
