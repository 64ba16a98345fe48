"""The APIs of models that agents ask: their addresses, and which requests are model calls."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from passmuster.agents.capture._config import CaptureConfig

MODEL_CALLS = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
    "/completions": "completions",
}
"""The last words of paths to which model calls are sent, and the API that each speaks."""
_NO_MODEL_CALLS = (
    *("/models", "/embeddings", "/moderations", "/files", "/uploads", "/images", "/audio", "/vector_stores"),
    *("/count_tokens", "/input_tokens", "/cancel", "/feedback", "/telemetry", "/event_logging"),
)
"""Words of paths to which anything else is sent that holds no call of a tool."""


class ModelApi(Struct, frozen=True):
    """Where the requests to one vendor go."""

    vendor: str
    base: str
    """The real address, which ends as that of an SDK's `base_url`."""
    mount: str
    """The path below which the proxy takes its requests; the rest is added to `base`."""
    variables: tuple[str, ...]
    """The variables by which agents are told the address."""
    key: str
    """The variable of the credential."""


def model_apis(config: CaptureConfig, environment: Mapping[str, str]) -> tuple[ModelApi, ...]:
    """OpenAI and Anthropic, or what stands in for them."""
    openai = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    anthropic = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE")

    def base(stated: str | None, names: tuple[str, ...], default: str) -> str:
        return (stated or next((environment[name] for name in names if environment.get(name)), default)).rstrip("/")

    return (
        ModelApi(
            "openai", base(config.openai, openai, "https://api.openai.com/v1"), "/openai/v1", openai, "OPENAI_API_KEY"
        ),
        ModelApi(
            "anthropic",
            base(config.anthropic, anthropic, "https://api.anthropic.com"),
            "/anthropic",
            anthropic,
            "ANTHROPIC_API_KEY",
        ),
    )


def path_of(api: ModelApi, path: str) -> str:
    """What to add to the address of an API for a path below its mount. Some clients leave Anthropic's version out."""
    rest = path.removeprefix(api.mount)
    if api.vendor == "anthropic":
        has_version = rest.startswith("/v1/")
        if api.base.endswith("/v1"):
            return rest.removeprefix("/v1")
        return rest if has_version else f"/v1{rest}"
    return rest


def api_of_call(method: str, path: str) -> str | None:
    """The API that a request speaks if it is a model call; None for all others."""
    plain = path.partition("?")[0].rstrip("/")
    if method != "POST":
        return None
    return next((api for ending, api in MODEL_CALLS.items() if plain.endswith(ending)), None)


def may_be_model_call(method: str, path: str) -> bool:
    """Whether a request that is none of the known model calls could have a model call tools."""
    return method == "POST" and not any(word in path for word in _NO_MODEL_CALLS)
