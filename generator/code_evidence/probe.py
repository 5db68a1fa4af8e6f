"""Asks the installed packages: what a name is, and what DeepSpeed says to a configuration.

This is a script for the environment that holds the packages, which has nothing of ours installed:
``python probe.py REQUEST ANSWER``, both JSON files. A request is ``{"names": [...], "configurations": [...],
"ranks": 1}``; the answer is ``{"names": {name: kind or null}, "configurations": [message or null, ...]}``.
Null for a name: can't be told here.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

_STEP = re.compile(r"\.?([A-Za-z_][A-Za-z0-9_]*)|(\(\))|\(([A-Za-z_][A-Za-z0-9_]*)=\)")


def main(request_file: str, answer_file: str) -> None:
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    answer = {
        "names": {name: kind_of(name) for name in request["names"]},
        "configurations": answers(request["configurations"], request["ranks"]),
    }
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


def kind_of(name: str) -> str | None:
    """See ``record.Kind`` for the words, ``uses`` for how names are written."""
    steps = [match.groups() for match in _STEP.finditer(name)]
    found, used = _deepest_module([step[0] for step in steps])
    if used == 0:
        return None
    kind = _follow(found, steps, used)
    return _follow(_imported(steps[0][0]), steps, 1) if kind == "missing" and used > 1 else kind


def _deepest_module(names: list[str]) -> tuple[Any, int]:
    """The module that the longest beginning of the names imports, and how many names that are."""
    found, used = None, 0
    while used < len(names) and names[used]:
        module = _imported(".".join(names[: used + 1]))
        if module is None:
            break
        found, used = module, used + 1
    return found, used


def _follow(found: Any, steps: list[tuple[str, ...]], used: int) -> str | None:
    """What the steps after the first ``used`` lead to."""
    is_instance = False
    for plain, call, keyword in steps[used:]:
        if keyword:
            return None if is_instance else _keyword(found, keyword)
        if call:
            if is_instance or not inspect.isclass(found):
                return None
            is_instance = True
        elif not _has(found, plain):
            # What an instance's methods set on it, its class doesn't show.
            return None if is_instance or not inspect.ismodule(found) else "missing"
        else:
            found, is_instance = getattr(found, plain), False
    return _kind(found)


def _imported(path: str) -> Any:
    try:
        return importlib.import_module(path)
    except Exception:
        return None


def _has(owner: Any, name: str) -> bool:
    try:
        return hasattr(owner, name)
    except Exception:
        return False


def _keyword(called: Any, name: str) -> str | None:
    try:
        parameters = inspect.signature(called).parameters
    except (ValueError, TypeError):
        return None
    by_name = {p.name for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if name in by_name:
        return "parameter"
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return "any keyword" if takes_any else "missing"


def _kind(found: Any) -> str:
    if inspect.ismodule(found):
        return "module"
    if inspect.isclass(found):
        return "class"
    return "function" if callable(found) else "attribute"


def answers(configurations: list[dict[str, Any]], ranks: int) -> list[str | None]:
    """For each configuration DeepSpeed's refusal, or null."""
    if not configurations:
        return []
    if ranks > 1:
        _pretend(ranks)
    config_class = importlib.import_module("deepspeed.runtime.config").DeepSpeedConfig
    return [_refusal(config_class, configuration) for configuration in configurations]


def _pretend(ranks: int) -> None:
    """Be rank 0 of so many in torch's fake backend. One rank is what DeepSpeed takes where nothing is set up."""
    store = importlib.import_module("torch.testing._internal.distributed.fake_pg").FakeStore()
    distributed = importlib.import_module("torch.distributed")
    distributed.init_process_group("fake", rank=0, world_size=ranks, store=store)
    deepspeed = importlib.import_module("deepspeed")
    # Else DeepSpeed compiles its collectives for CPUs here, which takes minutes and serves nothing.
    deepspeed.ops.__compatible_ops__.clear()
    deepspeed.init_distributed()


def _refusal(config_class: Any, configuration: dict[str, Any]) -> str | None:
    try:
        config_class(configuration)
    except Exception as error:
        words = re.sub(r"For further information visit \S+", "", str(error))
        return f"{type(error).__name__}: {' '.join(words.split())}"[:600]
    return None


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        main(*sys.argv[1:])
