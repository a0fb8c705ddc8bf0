"""A peer of B5's page: a chat whose fragment draws what a thread has collected.

Another way to build Colloquy's own page (ADR 28), on the same API: a thread follows the events of
the session, and while a turn is active a fragment draws the text so far, twenty times a second.
"""

import json
import os
import threading
from typing import Any
from uuid import uuid4

import httpx
import streamlit as st

EVERY = 0.05  # seconds
api = httpx.Client(base_url=os.environ["API_URL"], timeout=30)


class Follower:
    """The state of a session: what is stored, and the text that streams."""

    def __init__(self) -> None:
        self.session = api.post("/sessions", json={}).json()["id"]
        self.text = ""
        self.is_active = False
        self.rows: list[dict[str, Any]] = []
        threading.Thread(target=self._follow, daemon=True).start()

    def send(self, message: str) -> None:
        """Submit a message."""
        self.is_active = True
        headers = {"Prefer": "respond-async", "Idempotency-Key": uuid4().hex}
        api.post(f"/sessions/{self.session}/chat", json={"message": message}, headers=headers)
        self._read()

    def _follow(self) -> None:
        kind = ""
        with api.stream("GET", f"/sessions/{self.session}/events", timeout=None) as stream:
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    self._take(kind, json.loads(line[6:]))

    def _take(self, kind: str, event: dict[str, Any]) -> None:
        if kind == "text_delta":
            self.text += event["text"]
        if kind == "turn_finished":
            self._read()
            self.text = ""
            self.is_active = False

    def _read(self) -> None:
        self.rows = api.get(f"/sessions/{self.session}/messages").json()["items"]


if "follower" not in st.session_state:
    st.session_state.follower = Follower()
follower: Follower = st.session_state.follower
if prompt := st.chat_input("What is up?"):
    follower.send(prompt)
rows = follower.rows
for row in rows:
    if row["content_type"] == "text":
        with st.chat_message("user" if row["message_type"] == "user" else "assistant"):
            st.markdown(row["content"]["text"])


@st.fragment(run_every=EVERY if follower.is_active else None)
def answer() -> None:
    """Draw the text so far; draw the whole page once the answer is stored."""
    if follower.text:
        with st.chat_message("assistant"):
            st.markdown(follower.text)
    if not follower.is_active and follower.rows is not rows:
        st.rerun()


answer()
