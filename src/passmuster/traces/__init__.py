"""Traces: what an agent did once, read from files of several formats, with the place of every step."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.traces._locate import PartLines as PartLines
    from passmuster.traces._locate import Spot as Spot
    from passmuster.traces._locate import lines_of as lines_of
    from passmuster.traces._locate import spot_of_call as spot_of_call
    from passmuster.traces._locate import spot_of_trace as spot_of_trace
    from passmuster.traces._model import Handoff as Handoff
    from passmuster.traces._model import ToolCall as ToolCall
    from passmuster.traces._model import Trace as Trace
    from passmuster.traces._model import oversized_numbers as oversized_numbers
    from passmuster.traces._reading import BadLines as BadLines
    from passmuster.traces._reading import check_format as check_format
    from passmuster.traces._reading import is_splittable as is_splittable
    from passmuster.traces._reading import read_source as read_source
    from passmuster.traces._reading import read_traces as read_traces
    from passmuster.traces._sources import Source as Source
    from passmuster.traces._sources import find_sources as find_sources
    from passmuster.traces._sources import standard_input as standard_input
    from passmuster.traces._totals import Totals as Totals
    from passmuster.traces._totals import total_cost_usd as total_cost_usd
    from passmuster.traces._totals import total_duration_ms as total_duration_ms
    from passmuster.traces._totals import total_llm_calls as total_llm_calls
    from passmuster.traces._totals import total_tokens as total_tokens
    from passmuster.traces._totals import totals_of as totals_of
    from passmuster.traces._trace_schema import trace_schema as trace_schema
    from passmuster.traces.formats import FORMATS as FORMATS
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_locate": ("PartLines", "Spot", "lines_of", "spot_of_call", "spot_of_trace"),
            "_model": ("Handoff", "ToolCall", "Trace", "oversized_numbers"),
            "_reading": ("BadLines", "check_format", "is_splittable", "read_source", "read_traces"),
            "_sources": ("Source", "find_sources", "standard_input"),
            "_totals": (
                "Totals",
                "total_cost_usd",
                "total_duration_ms",
                "total_llm_calls",
                "total_tokens",
                "totals_of",
            ),
            "_trace_schema": ("trace_schema",),
            "formats": ("FORMATS",),
        },
    )
