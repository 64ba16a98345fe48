"""Agents with the real OpenTelemetry SDK, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from passmuster.agents.capture import CaptureServer

SECONDS = 60

INSTRUMENTED = """
import json, os, sys, time
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

exporter = OTLPSpanExporter(compression=Compression.Gzip)
processor = BatchSpanProcessor(exporter)
provider = TracerProvider()
provider.add_span_processor(processor)
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("test")


def tool(name, call_id, arguments, result="ok"):
    with tracer.start_as_current_span(f"execute_tool {name}") as span:
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", name)
        span.set_attribute("gen_ai.tool.call.id", call_id)
        span.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))
        span.set_attribute("gen_ai.tool.call.result", json.dumps(result))


def chat(number, said, calls):
    with tracer.start_as_current_span("chat m") as span:
        parts = [{"type": "tool_call", "id": i, "name": n, "arguments": a} for n, i, a in calls]
        parts += [{"type": "text", "content": said}] if said else []
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.request.model", "m")
        span.set_attribute("gen_ai.response.id", f"resp-{number}")
        span.set_attribute("gen_ai.usage.input_tokens", 10)
        span.set_attribute("gen_ai.usage.output_tokens", 5)
        span.set_attribute("gen_ai.input.messages", json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}]))
        span.set_attribute("gen_ai.output.messages", json.dumps([{"role": "assistant", "parts": parts}]))


def agent():
    return tracer.start_as_current_span("invoke_agent support")

"""


def start(server: CaptureServer, run_id: str, code: str, folder: Path) -> subprocess.Popen[bytes]:
    """A child that runs this code after `INSTRUMENTED`, observed as this run."""
    script = folder / f"{run_id}.py"
    script.write_text(INSTRUMENTED + textwrap.dedent(code))
    environment = {**os.environ, **server.environment(run_id)}
    return subprocess.Popen([sys.executable, str(script)], env=environment)


def run(server: CaptureServer, run_id: str, code: str, folder: Path) -> None:
    """The same, to its end."""
    assert start(server, run_id, code, folder).wait(SECONDS) == 0
