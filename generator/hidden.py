"""The characters that a terminal obeys or that can't be seen. The twin is ``static/engine/hidden.js``."""

from __future__ import annotations

import json
import re
from typing import Any

HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""As ranges of a regular expression: controls but for tab, line feed and carriage return, and what Unicode's
Default_Ignorable_Code_Point has, which hides or reorders text (https://trojansource.codes). The two selectors that
make a sign an emoji or not are none of them."""
_ESCAPED = re.compile(f"[{HIDDEN}\ud800-\udfff]")


def to_json(value: Any) -> str:
    """The value as it is printed, with escapes for the characters above, which JSON itself would let stand."""
    return _ESCAPED.sub(_escape, json.dumps(value, indent=2, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
