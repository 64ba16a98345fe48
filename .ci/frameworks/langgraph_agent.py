"""LangGraph, with LangChain's model and tools."""

import warnings

from exporting import provider
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import ToolNode, create_react_agent
from openinference.instrumentation.langchain import LangChainInstrumentor
from tools import QUERY, get_order, refund

LangChainInstrumentor().instrument(tracer_provider=provider())

warnings.simplefilter("ignore")
tools = ToolNode([tool(get_order), tool(refund)], handle_tool_errors=True)
agent = create_react_agent(ChatOpenAI(model="m-1"), tools)
said = agent.invoke({"messages": [("user", QUERY)]})
print(said["messages"][-1].content)
