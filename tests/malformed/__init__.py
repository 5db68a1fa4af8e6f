"""Malformed content: a small folder that is right, and what is done to it to make it wrong."""
