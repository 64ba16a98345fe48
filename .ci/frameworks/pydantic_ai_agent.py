"""pydantic-ai, which exports OpenTelemetry by itself."""

from exporting import provider
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from tools import QUERY, get_order, refund

provider()
Agent.instrument_all()

agent = Agent(OpenAIChatModel("m-1"), tools=[get_order], name="support", retries=3)


@agent.tool_plain(name="refund")
def retried_refund(order_id: str, amount: float) -> str:
    """Refund an order."""
    try:
        return refund(order_id, amount)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


print(agent.run_sync(QUERY).output)
