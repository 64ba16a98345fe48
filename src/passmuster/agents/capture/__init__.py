"""Capture: what an agent does while it runs, observed on loopback without a change to its code.

A `CaptureServer` receives OpenTelemetry, and passes requests to a model's API on while it records them. What arrives
for one run is read by the readers of trace files and becomes one `Trace`.
"""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.agents.capture._captured import Captured
    from passmuster.agents.capture._config import CAPTURE, CaptureConfig
    from passmuster.agents.capture._server import CaptureServer
else:
    __getattr__ = lazy_exports(__name__)
