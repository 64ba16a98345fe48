"""The server that observes agents: one port on loopback, for all runs at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace

from passmuster._problems import InputError, Problem, plural
from passmuster.agents.capture._captured import Captured
from passmuster.agents.capture._cassette import Cassette, answered
from passmuster.agents.capture._config import CaptureConfig, Source
from passmuster.agents.capture._http import HOST, LoopbackServer, Refusal, Request
from passmuster.agents.capture._merge import merged
from passmuster.agents.capture._model_apis import model_apis
from passmuster.agents.capture._observed_calls import ObservedCalls, observed_calls
from passmuster.agents.capture._observed_run import ObservedRun
from passmuster.agents.capture._open_runs import OpenRuns
from passmuster.agents.capture._proxy import Proxy
from passmuster.agents.capture._receiver import is_otlp, receive
from passmuster.agents.capture._telemetry_variables import telemetry_variables
from passmuster.traces import Fault, Trace

_RUN = "/run/"
_HOW_TO_CAPTURE = (
    "no source shows the agent's tool calls, so checks of calls are undecided. Let the agent ask its model at "
    "OPENAI_BASE_URL or ANTHROPIC_BASE_URL, which are set for it, instrument it with OpenTelemetry, or have it return "
    "its messages; an agent that is started elsewhere needs agent.capture.port (docs/capture.md)"
)


class CaptureServer:
    """Observes runs from `__enter__` to `__exit__`. Runs are told apart by the id that the caller gives them.

    Its methods may be called from any thread. Nothing outside loopback reaches it.
    """

    def __init__(
        self, config: CaptureConfig, folder: Path, environment: Mapping[str, str], resume: bool = False
    ) -> None:
        """Opens the port and reads the cassette. Raises `InputError` where either cannot be used.

        Paths are relative to `folder`; `environment` is what the agent's process gets besides, and `resume` goes on
        with a recording that was interrupted.
        """
        self._config = config
        self._environment = dict(environment)
        self._closed = False
        self._runs = OpenRuns()
        self._apis = model_apis(config, environment)
        self._cassette: Cassette | None = None
        if config.cassette is not None:
            self._cassette = Cassette(folder / config.cassette, config.cassette, config.tape, resume)
        port = config.port or 0
        try:
            self._server = LoopbackServer(port, self._serve)
        except OSError as error:
            why = error.strerror or error
            raise InputError(Problem(f"agent.capture.port: cannot listen on {HOST}:{port}: {why}")) from error
        self._proxy = Proxy(environment, self._cassette)
        self.address = f"http://{HOST}:{self._server.port}"

    def __enter__(self) -> CaptureServer:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self._cassette is not None and kind is None:
            self._cassette.finish()

    def close(self) -> None:
        """Stop listening. A recording that is not finished stays where `resume` finds it."""
        if not self._closed:
            self._closed = True
            self._server.close()
            self._proxy.close()

    def environment(self, run_id: str, name: str = "") -> dict[str, str]:
        """The variables to add to those of the agent's process, so that this run is observed.

        `name` is what the same run is called every time, by which its requests are found on a tape.
        """
        run = self._runs.open(run_id, name)
        variables = {"TRACEPARENT": run.traceparent}  # or it would continue a trace of whoever started this program
        if self._captures("opentelemetry"):
            variables |= telemetry_variables(f"{self.address}{_RUN}{run.key}", run.key, self._environment)
        if self._captures("model_api"):
            for api in self._apis:
                variables |= dict.fromkeys(api.variables, f"{self.address}{_RUN}{run.key}{api.mount}")
                if self._cassette is not None and not self._cassette.records and not self._environment.get(api.key):
                    variables[api.key] = "none-is-needed"  # SDKs do not start without one
        for name in ("NO_PROXY", "no_proxy"):  # or a proxy would be asked for what is on this machine
            others = self._environment.get(name, "")
            variables[name] = f"{others},{HOST},localhost".lstrip(",")
        return variables

    def headers(self, run_id: str, name: str = "") -> dict[str, str]:
        """The headers to send to an agent that is a server, so that this run is observed; `name` as above."""
        return {"traceparent": self._runs.open(run_id, name).traceparent}

    def collect(self, run_id: str, returned: Trace | None) -> Captured:
        """What was observed of a run whose process or request has ended, with what the agent itself gave back.

        Waits up to the grace time for spans that are still missing. The run is over then: nothing more is taken for it.
        """
        run = self._runs.open(run_id)
        try:
            self._wait(run)
        finally:
            self._runs.close(run)
        self._record(run)
        traces: dict[str, Trace] = {}
        spans, problems = run.spans.trace() if len(run.spans) else (None, [])
        notices = [f"OpenTelemetry: {problem}" for problem in problems]
        if spans is not None:
            traces["opentelemetry"] = spans
        else:
            notices += self._strays()
        calls = observed_calls(run.exchanges)
        notices += calls.notices
        if calls.trace is not None:
            traces["model_api"] = calls.trace
        if returned is not None and self._captures("returned"):
            traces["returned"] = returned
        shown = dict(traces)
        if returned is not None and "returned" not in shown:  # its answer and its error count all the same
            shown["returned"] = replace(returned, steps=(), calls_unknown=True)
        trace = merged(shown) if shown else Trace(calls_unknown=True)
        lost = [*run.lost, *self._missing(run), *calls.lost, *self._not_arrived(traces, calls)]
        if lost:
            message = "the run was not observed as a whole: " + "; ".join(lost)
            if trace.error is None:
                trace = replace(trace, error=Fault(message, kind="infra"))
            else:
                notices.append(message)
        if outside := _outside_failure(run, calls, trace):
            # The model asked for no more calls than were seen: that none is known would be another failure.
            trace = replace(trace, error=Fault(outside, kind="infra"), calls_unknown=False)
        if trace.calls_unknown:
            notices.append(_HOW_TO_CAPTURE)
        return Captured(trace, tuple(traces), tuple(notices))

    def _not_arrived(self, traces: Mapping[str, Trace], calls: ObservedCalls) -> list[str]:
        """The sources that have to arrive and have not."""
        arrived = {source for source, trace in traces.items() if source != "returned" or not trace.calls_unknown}
        if calls.outage:
            arrived.add("model_api")
        return [f"nothing arrived from '{source}'" for source in self._config.sources if source not in arrived]

    def _captures(self, source: Source) -> bool:
        return not self._config.sources or source in self._config.sources

    @property
    def _expects_spans(self) -> bool:
        """Whether to wait though nothing has arrived: an agent that was started elsewhere sends its spans late."""
        if "opentelemetry" in self._config.sources:
            return True
        return self._config.port is not None and self._captures("opentelemetry")

    def _wait(self, run: ObservedRun) -> None:
        deadline = time.monotonic() + self._config.grace
        with run.changed:
            while run.pending or run.missing_spans or (not len(run.spans) and self._expects_spans):
                left = deadline - time.monotonic()
                if left <= 0 or run.lost:
                    break
                run.changed.wait(left)
            if run.pending:
                run.lose(f"a request to the model goes on {self._config.grace:g} s after the end of the run")

    def _missing(self, run: ObservedRun) -> list[str]:
        missing = run.missing_spans
        if not missing:
            return []
        count = "a span" if len(missing) == 1 else f"{len(missing)} spans"
        example = min(missing)
        return [f"{count} did not arrive within {self._config.grace:g} s, though others name it as parent ({example})"]

    def _strays(self) -> list[str]:
        """Why OpenTelemetry may not have reached its runs."""
        notices = []
        if self._server.saw_grpc:
            notices.append("an exporter speaks gRPC: use one for OTLP over HTTP")
        if count := self._runs.unclaimed:
            notices.append(
                f"{plural(count, 'span')} arrived that belong to no run: an agent that is a server has to continue the "
                "trace in the header traceparent"
            )
        return notices

    def _record(self, run: ObservedRun) -> None:
        if self._cassette is not None and self._cassette.records:
            new = [answered(exchange) for exchange in run.exchanges if not exchange.replayed]
            self._cassette.add(run.name, [entry for entry in new if entry is not None])

    def _serve(self, request: Request) -> None:
        path, _, query = request.path.partition("?")
        run: ObservedRun | None = None
        if path.startswith(_RUN):
            key, _, rest = path.removeprefix(_RUN).partition("/")
            path = f"/{rest}"
            run = self._runs.by_key(key)
            if run is None:
                raise Refusal(404, "no such run is being observed; it may be over")
        if is_otlp(path) and self._captures("opentelemetry"):
            receive(request, path, run, self._runs)
            return
        api = next((api for api in self._apis if path.startswith(f"{api.mount}/")), None)
        if api is None or not self._captures("model_api"):
            raise Refusal(404, "expected /v1/traces, /v1/logs, or a request to a model's API")
        query = f"?{query}" if query else ""
        self._proxy.serve(request, api, path + query, run or self._run_of(request))

    def _run_of(self, request: Request) -> ObservedRun | None:
        """The run of an agent that is a server: by the trace that it continues, or the only one there is."""
        trace_id = "".join(request.headers.get("traceparent", "").split("-")[1:2])
        run = self._runs.by_trace(trace_id)
        going_on = self._runs.all()
        if run is not None or not going_on or self._runs.is_over(trace_id):
            return run
        if len(going_on) == 1:
            return going_on[0]
        for one in going_on:
            one.lose(
                "a request to the model could not be told from those of other runs: pass the header traceparent on, or "
                "set agent.concurrency to 1"
            )
        return None


def _outside_failure(run: ObservedRun, calls: ObservedCalls, trace: Trace) -> str | None:
    """Why a run failed that is not the agent's doing; None where nothing says so."""
    if run.not_on_tape:  # whatever the agent did next, it would have done something else
        return run.not_on_tape[0]
    if calls.outage and trace.error is not None:
        return f"{trace.error.message}; the model's API failed: {calls.outage}"
    return None
