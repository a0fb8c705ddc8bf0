"""The peer of B5's page: a Chainlit chat that calls the model itself, as in its documentation.

https://docs.chainlit.io/integrations/openai; it runs in an environment of its own.
"""

import os

import chainlit as cl
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="test")


@cl.on_message
async def answer(message: cl.Message) -> None:
    """Stream the model's answer to the page."""
    reply = cl.Message(content="")
    stream = await client.chat.completions.create(
        model="scripted", messages=cl.chat_context.to_openai(), stream=True
    )
    async for part in stream:
        if part.choices and (token := part.choices[0].delta.content):
            await reply.stream_token(token)
    await reply.update()
