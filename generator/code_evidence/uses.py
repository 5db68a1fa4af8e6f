"""Snippets → the names that they use of other packages, and the DeepSpeed configurations that they show.

A name is written as one would reach it: ``torch.optim.AdamW`` for what is imported or reached by dots,
``torch.optim.AdamW(lr=)`` for a keyword in a call, and ``torch.optim.AdamW().step`` for an attribute of
what the call returns. Calls are followed through plain assignments. Only what hangs on an import is seen,
and two names whose meaning is a convention of our snippets (see ``CONVENTIONS``).
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import BaseModel

from ..content import FieldPath
from ..model import Package, Snippet

CONVENTIONS: Mapping[str, str] = {
    "engine": "deepspeed.DeepSpeedEngine()",
    "accelerator": "accelerate.Accelerator()",
}
"""What a name is in our snippets where nothing in them says otherwise."""
_ENGINE = "deepspeed.initialize()"
_PIPELINE_WORDS = ("PipelineModule", ".train_batch(", ".eval_batch(")

TELLING_KEYS = frozenset(
    {
        "train_batch_size",
        "train_micro_batch_size_per_gpu",
        "zero_optimization",
        "zero_allow_untested_optimizer",
        "zero_force_ds_cpu_optimizer",
        "fp16",
        "bf16",
    }
)
"""A mapping with one of these keys is a DeepSpeed configuration."""

_ACCELERATE_KEYS = frozenset({"deepspeed_config", "fsdp_config", "distributed_type", "compute_environment"})
_ACCELERATE_CONFIG = "accelerate.commands.config.config_args.ClusterConfig"


@dataclass(frozen=True)
class Use:
    """A name that a snippet uses, with the line of its code (1-based)."""

    name: str
    line: int


@dataclass(frozen=True)
class Configuration:
    """A DeepSpeed configuration that a snippet shows whole, with the line where it begins."""

    value: Mapping[str, Any]
    line: int

    def key(self, release: str, ranks: int) -> str:
        """Names the question 'what does this release say to it on so many ranks' in a record."""
        text = json.dumps([release, ranks, self.value], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def snippets(part: BaseModel, field: FieldPath = ()) -> Iterator[tuple[FieldPath, Snippet]]:
    """Every snippet in an entry or a part of one, with its field."""
    if isinstance(part, Snippet):
        yield field, part
        return
    for name, info in type(part).model_fields.items():
        value = getattr(part, name)
        key = info.alias or name
        items = enumerate(value) if isinstance(value, tuple) else [(None, value)]
        for index, item in items:
            if isinstance(item, BaseModel):
                yield from snippets(item, (*field, key) if index is None else (*field, key, index))


def releases(snippet: Snippet, packages: tuple[Package, ...]) -> dict[str, str]:
    """Release by top-level module, such as ``{"torch": "torch==2.13.0"}``: the snippet's own before the newest."""
    own = {requirement.partition("==")[0]: requirement for requirement in snippet.packages}
    return {
        listed.module: own.get(listed.package, f"{listed.package}=={listed.version}") for listed in packages
    }


def imported_modules(snippet: Snippet) -> Iterator[Use]:
    """The top-level modules that a snippet imports beside the standard library."""
    for node in ast.walk(_tree(snippet)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names:
                assert isinstance(node, ast.Import | ast.ImportFrom)
                yield Use(top, node.lineno)


def used_names(snippet: Snippet, modules: frozenset[str]) -> tuple[Use, ...]:
    """The names that a snippet uses of these top-level modules, each once, in order of first use.

    None where the snippet isn't Python that parses, which is another check's finding. The keys of a YAML file
    for ``accelerate launch`` are the parameters of the class that reads it.
    """
    if snippet.language == "yaml":
        return tuple(_accelerate_keys(snippet)) if "accelerate" in modules else ()
    reader = _Reader(_tree(snippet), any(word in snippet.code for word in _PIPELINE_WORDS))
    first: dict[str, Use] = {}
    for use in reader.uses():
        if use.name.split(".")[0].partition("(")[0] in modules:
            first.setdefault(use.name, use)
    return tuple(first.values())


def configurations(snippet: Snippet) -> tuple[Configuration, ...]:
    """The DeepSpeed configurations that the snippet shows: the JSON, or dict displays made of literals."""
    found = _json_configuration(snippet) if snippet.language == "json" else _dict_configurations(snippet)
    return tuple(found)


def _accelerate_keys(snippet: Snippet) -> Iterator[Use]:
    try:
        node = yaml.compose(snippet.code, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return
    if not isinstance(node, yaml.MappingNode):
        return
    keys = {key.value: key.start_mark.line + 1 for key, _ in node.value if isinstance(key.value, str)}
    if keys.keys() & _ACCELERATE_KEYS:
        yield from (Use(f"{_ACCELERATE_CONFIG}({key}=)", line) for key, line in keys.items())


def _json_configuration(snippet: Snippet) -> Iterator[Configuration]:
    try:
        value = json.loads(snippet.code)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict) and TELLING_KEYS & value.keys():
        yield Configuration(value, 1)


def _dict_configurations(snippet: Snippet) -> Iterator[Configuration]:
    for node in ast.walk(_tree(snippet)):
        if isinstance(node, ast.Dict) and TELLING_KEYS & {_constant(key) for key in node.keys}:
            try:
                value = ast.literal_eval(node)
                json.dumps(value)
            except (ValueError, TypeError):
                # Computed in part: what it is then, the snippet alone can't say.
                continue
            yield Configuration(value, node.lineno)


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _tree(snippet: Snippet) -> ast.Module:
    """The syntax tree of a Python snippet; an empty one of what isn't Python or doesn't parse."""
    empty = ast.Module(body=[], type_ignores=[])
    if snippet.language != "python":
        return empty
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(snippet.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return empty


class _Reader:
    """Follows imports, dots, calls and plain assignments through a tree.

    A name that is bound twice to different things is not followed: which one is meant where would take
    more than a snippet is worth.
    """

    def __init__(self, tree: ast.Module, with_pipeline: bool) -> None:
        self.tree = tree
        self.engine = "deepspeed.PipelineEngine()" if with_pipeline else CONVENTIONS["engine"]
        self.meaning: dict[str, str | None] = {}
        self._bind_imports()
        self._bind_assignments()
        for name, meaning in CONVENTIONS.items():
            self.meaning.setdefault(name, self.engine if name == "engine" else meaning)

    def uses(self) -> Iterator[Use]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (Use(alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield from self._import_from(node.module, node)
            elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
                name = self._name(node)
                if name is not None:
                    yield Use(name, node.end_lineno or node.lineno)
            elif isinstance(node, ast.Call):
                yield from self._keywords(node)

    def _import_from(self, module: str, node: ast.ImportFrom) -> Iterator[Use]:
        for alias in node.names:
            yield Use(module if alias.name == "*" else f"{module}.{alias.name}", node.lineno)

    def _keywords(self, call: ast.Call) -> Iterator[Use]:
        name = self._name(call.func)
        for keyword in call.keywords if name is not None else ():
            if keyword.arg is not None:
                yield Use(f"{name}({keyword.arg}=)", keyword.value.lineno)

    def _name(self, node: ast.expr) -> str | None:
        """What an expression is, as a name; None where it doesn't hang on an import."""
        if isinstance(node, ast.Name):
            return self.meaning.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._name(node.value)
            return None if base is None else f"{base}.{node.attr}"
        if isinstance(node, ast.Call):
            called = self._name(node.func)
            # What an instance returns when it is called, such as a module's output, nothing here tells.
            return None if called is None or called.endswith(")") else f"{called}()"
        return None

    def _bind(self, name: str, meaning: str | None) -> None:
        known = name not in self.meaning or self.meaning[name] == meaning
        self.meaning[name] = meaning if known else None

    def _bind_imports(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    self._bind(alias.asname or top, alias.name if alias.asname else top)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}" if node.level == 0 else None
                    self._bind(alias.asname or alias.name, whole)

    def _bind_assignments(self) -> None:
        followed: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                for target, meaning in self._assigned(node.targets[0], node.value):
                    followed.add(id(target))
                    self._bind(target.id, meaning)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in followed:
                self._bind(node.id, None)
            elif isinstance(node, ast.arg) and node.arg not in CONVENTIONS:
                self._bind(node.arg, None)

    def _assigned(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, str | None]]:
        """What a plain assignment makes of names: of `engine, *_ = deepspeed.initialize(...)` an engine."""
        name = self._name(value) if isinstance(value, ast.Call) else None
        if isinstance(target, ast.Name):
            yield target, name
        elif isinstance(target, ast.Tuple) and name == _ENGINE and isinstance(target.elts[0], ast.Name):
            yield target.elts[0], self.engine
