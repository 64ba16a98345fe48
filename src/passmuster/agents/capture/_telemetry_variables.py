"""The variables that make an agent's instrumentation send all it knows to the receiver."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from passmuster.agents.capture._receiver import RUN_ATTRIBUTE

_ALL_SPANS = {
    "OTEL_SDK_DISABLED": "false",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_LOGS_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_TRACES_SAMPLER": "always_on",
    # Long conversations have a span with more attributes, and runs with more spans, than the defaults let through.
    "OTEL_ATTRIBUTE_COUNT_LIMIT": "100000",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "100000",
    "OTEL_SPAN_EVENT_COUNT_LIMIT": "100000",
    "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT": "100000",
    "OTEL_BSP_MAX_QUEUE_SIZE": "65536",
    "OTEL_BLRP_MAX_QUEUE_SIZE": "65536",
    # Soon, so that an agent that is killed has sent most of it.
    "OTEL_BSP_SCHEDULE_DELAY": "200",
    "OTEL_BLRP_SCHEDULE_DELAY": "200",
}
_LIMITS = (
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
)
"""Limits by which arguments and answers would be cut off; an empty value means none."""
_ELSEWHERE = (
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE",
    "OTEL_CONFIG_FILE",
)
"""What the environment may say for another receiver."""
_CONTENT = {
    # Semantic conventions for generative AI. Older instrumentations want `true` for the second.
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
    # OpenLLMetry
    "TRACELOOP_TRACE_CONTENT": "true",
    # OpenInference
    "OPENINFERENCE_HIDE_INPUTS": "false",
    "OPENINFERENCE_HIDE_OUTPUTS": "false",
    "OPENINFERENCE_HIDE_INPUT_MESSAGES": "false",
    "OPENINFERENCE_HIDE_OUTPUT_MESSAGES": "false",
    "OPENINFERENCE_HIDE_INPUT_TEXT": "false",
    "OPENINFERENCE_HIDE_OUTPUT_TEXT": "false",
    # Frameworks with switches of their own
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "true",
    "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED": "true",
    "ENABLE_INSTRUMENTATION": "true",
    "ENABLE_OTEL": "true",
    "ENABLE_SENSITIVE_DATA": "true",
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS": "true",
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE": "true",
    # Claude Code
    "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
    "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
    "OTEL_LOG_USER_PROMPTS": "1",
    "OTEL_LOG_TOOL_DETAILS": "1",
    "OTEL_LOG_TOOL_CONTENT": "1",
}
"""Switches for recording messages, arguments and results. One that the environment sets already is left as it is."""


def telemetry_variables(endpoint: str, key: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables for a run with this key; `environment` is what the agent has besides."""
    protocol = "http/protobuf" if find_spec("opentelemetry") and _has_protobuf() else "http/json"
    variables = {"TRACELOOP_BASE_URL": endpoint}
    for signal in ("", "TRACES_", "LOGS_"):
        path = f"/v1/{signal[:-1].lower()}" if signal else ""
        variables[f"OTEL_EXPORTER_OTLP_{signal}ENDPOINT"] = endpoint + path
        variables[f"OTEL_EXPORTER_OTLP_{signal}PROTOCOL"] = protocol
    stated = environment.get("OTEL_RESOURCE_ATTRIBUTES", "").strip().rstrip(",")
    variables["OTEL_RESOURCE_ATTRIBUTES"] = f"{stated},{RUN_ATTRIBUTE}={key}" if stated else f"{RUN_ATTRIBUTE}={key}"
    variables |= _ALL_SPANS
    variables |= dict.fromkeys([name for name in (*_LIMITS, *_ELSEWHERE) if environment.get(name)], "")
    variables |= {name: value for name, value in _CONTENT.items() if not environment.get(name)}
    return variables


def _has_protobuf() -> bool:
    try:
        return find_spec("opentelemetry.proto") is not None
    except ModuleNotFoundError:
        return False
