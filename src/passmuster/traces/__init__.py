"""Traces: what an agent did once, read from files of several formats, with the place of every step."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.traces._building import Loss
    from passmuster.traces._describe_formats import TraceFormat, describe_formats
    from passmuster.traces._groups import positions_of
    from passmuster.traces._in_memory import format_of, plain_data, read_traces, traces_of
    from passmuster.traces._locate import PartLines, Spot, lines_of, record_place, spot_of_call, spot_of_trace
    from passmuster.traces._model import Agent, Fault, Handoff, LlmCall, Message, ToolCall, Trace, oversized_numbers
    from passmuster.traces._native_writing import native_line, native_record, plain_record, record_line
    from passmuster.traces._observed_exchanges import trace_of_exchanges
    from passmuster.traces._overview import Overview, RunSummary, ToolCount
    from passmuster.traces._parquet import parquet_pieces
    from passmuster.traces._prices import PriceList
    from passmuster.traces._reading import BadLines, check_format, is_splittable, read_source
    from passmuster.traces._rereading import read_again
    from passmuster.traces._sources import Source, find_sources, mark_of, standard_input, unchanged
    from passmuster.traces._totals import (
        Totals,
        total_cost_usd,
        total_duration_ms,
        total_llm_calls,
        total_tokens,
        totals_of,
    )
    from passmuster.traces._trace_schema import trace_schema
    from passmuster.traces._trace_time import trace_day, trace_time
    from passmuster.traces._wrapped import PositionalError, plain_arguments
    from passmuster.traces.formats import FACTS, FORMATS
    from passmuster.traces.spans._received import ReceivedSpans, SpanBatch, read_otlp
else:
    __getattr__ = lazy_exports(__name__)
