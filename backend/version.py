"""The version of Colloquy; nothing else says it."""

VERSION = "1.0.0"
