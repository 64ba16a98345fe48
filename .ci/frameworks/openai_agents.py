"""OpenAI's Agents SDK, with its Responses API."""

from agents import Agent, Runner, function_tool
from exporting import provider
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from tools import QUERY, get_order, refund

OpenAIAgentsInstrumentor().instrument(tracer_provider=provider())


agent = Agent(name="support", model="m-1", tools=[function_tool(get_order), function_tool(refund)])
print(Runner.run_sync(agent, QUERY).final_output)
