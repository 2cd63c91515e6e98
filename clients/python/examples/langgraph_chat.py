"""A chat in LangGraph without a checkpointer: a call brings one message, Longtail brings everything said before it.

Run it with any function from messages to an answer:  build_chat(my_model, Client()).invoke({...})
"""

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from longtail_client import Client

Model = Callable[[list[dict[str, Any]]], str]


class Chat(TypedDict, total=False):
    """One exchange: who speaks where, what is asked, what is answered."""

    session_id: str
    user_id: str
    message: str
    answer: str


def build_chat(model: Model, memory: Client, *, budget_tokens: int = 4000) -> Any:
    """A graph of one node: recall, answer, remember."""

    def answer(state: Chat) -> Chat:
        message = {"role": "user", "content": state["message"]}
        prompt = memory.assemble(
            state["session_id"],
            state["message"],
            budget_tokens=budget_tokens,
            user_id=state["user_id"],
            messages=[message],
            format="messages",
        )
        said = model(prompt.messages or [message])
        turns = [message, {"role": "assistant", "content": said}]
        memory.post_turns(state["session_id"], turns, user_id=state["user_id"])
        return {"answer": said}

    graph = StateGraph(Chat)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile()
