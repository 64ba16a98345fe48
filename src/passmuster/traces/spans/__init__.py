"""From spans to traces: what OTLP, Jaeger, MLflow and other span exports share.

A format turns its wrapping into `Span` values. A dialect (`dialects`) reads the facts of one span: a model call, a tool
call, an agent. `_runs` puts the facts of the spans of one run together into a `Trace`.
"""
