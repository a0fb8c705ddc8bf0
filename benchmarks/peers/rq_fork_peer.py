"""The peer of B7: RQ's pool of workers, which fork for each job; a job is one agent's turn."""

import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from redis import Redis
from rq import Queue
from rq.worker_pool import WorkerPool

QUEUE = "peer"


def run_turn(url: str, question: str) -> str:
    """Ask a LangChain agent; the answer is the job's result."""
    model = ChatOpenAI(model="scripted", base_url=url, api_key="test", max_retries=0)  # type: ignore[arg-type]  # a plain text is taken, too
    agent = create_agent(model, tools=[])
    pieces = []
    asked = {"messages": [{"role": "user", "content": question}]}
    for message, _ in agent.stream(asked, stream_mode="messages"):  # type: ignore[call-overload]  # as its documentation does
        pieces.append(message.text)
    return "".join(pieces)


if __name__ == "__main__":
    redis = Redis.from_url(sys.argv[1])
    # LangChain is imported above, before all forks, which minimises its memory.
    WorkerPool([Queue(QUEUE, connection=redis)], redis, num_workers=int(sys.argv[2])).start()
