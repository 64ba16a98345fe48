"""Traces: what an agent did once, read from files of several formats, with the place of every step."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.traces._locate import PartLines, Spot, lines_of, spot_of_call, spot_of_trace
    from passmuster.traces._model import Handoff, ToolCall, Trace, oversized_numbers
    from passmuster.traces._reading import BadLines, check_format, is_splittable, read_source, read_traces
    from passmuster.traces._sources import Source, find_sources, standard_input
    from passmuster.traces._totals import (
        Totals,
        total_cost_usd,
        total_duration_ms,
        total_llm_calls,
        total_tokens,
        totals_of,
    )
    from passmuster.traces._trace_schema import trace_schema
    from passmuster.traces.formats import FORMATS
else:
    __getattr__ = lazy_exports(__name__)
