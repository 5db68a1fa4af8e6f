"""Addresses of what the site holds: absolute where its own address is known, else from its root."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

_NAMESPACE = uuid5(NAMESPACE_URL, "first-fault")


def address(base_url: str, path: str) -> str:
    """``path``, which starts at the site's root, under the address that the site will have."""
    return f"{base_url.rstrip('/')}/{path}" if base_url else path


def permanent_id(name: str) -> str:
    """An id that stays when the site moves: a UUID made of the name, such as ``failures/SLUG``."""
    return uuid5(_NAMESPACE, name).urn
