"""A name → what it is in a package, read from the package's source with griffe, without importing it.

One module is parsed at a time, when a name leads there: transformers alone has thousands. What a package
makes only as it runs (names put into ``globals()``, lazy modules, compiled extensions without stubs) can't be
read; the answer is then ``not followed``, and ``probe`` may know more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import griffe
from griffe import Alias, Attribute, Class, Function, Module, Object

from .record import Kind

_STEP = re.compile(r"\.?([A-Za-z_][A-Za-z0-9_]*)|(\(\))|\(([A-Za-z_][A-Za-z0-9_]*)=\)")
_DYNAMIC = re.compile(r"\bglobals\(\)|\bsetattr\(|\bsys\.modules\[__name__\]|\bdef __getattr__\b")
_FORWARDS = frozenset({"torch.nn.modules.module.Module", "deepspeed.runtime.engine.DeepSpeedEngine"})
"""Classes whose ``__getattr__`` hands out what a module was given (parameters, submodules, the wrapped model's
attributes); a name of the class itself doesn't come from there."""
_DEPTH = 40
"""Aliases of aliases; no package goes as deep, and a circle ends here."""


class NotFollowed(Exception):
    """The source doesn't tell."""


class Source:
    """Packages on disk, as they lie in site-packages or in an unpacked wheel."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._modules: dict[str, Module | None] = {}

    def kind(self, name: str) -> Kind:
        """What the name is: see ``uses`` for how names are written.

        ``missing`` where the source shows that the name isn't there.
        """
        try:
            return self._kind(_steps(name))
        except NotFollowed:
            return "not followed"

    def _kind(self, steps: list[str]) -> Kind:
        found, used = self._deepest_module(steps)
        if found is None:
            return "missing"
        kind = self._follow(found, steps, used)
        if kind == "missing" and used > 1:
            # The package may have a member of the module's name, and the dots mean that.
            return self._follow(self._module(steps[0]), steps, 1)
        return kind

    def _follow(self, start: Object | None, steps: list[str], used: int) -> Kind:
        """What the steps after the first ``used`` lead to from ``start``."""
        found, is_result = start, False
        for number, step in enumerate(steps[used:], used + 1):
            assert found is not None
            if step.endswith("="):
                return self._keyword(found, step[:-1])
            if step == "()":
                found, is_result = self._result(found, is_result), True
                continue
            found, is_result = self._attribute(found, step, ".".join(steps[:number])), False
            if found is None:
                return "missing"
        assert found is not None
        return _kind_of(found)

    def _deepest_module(self, steps: list[str]) -> tuple[Module | None, int]:
        """The module that the longest beginning of the steps names, and how many steps that are.

        A module before a member: `from .fragment import fragment` gives its package a member of the module's
        name, and still `from .fragment import x` reads the module.
        """
        found, used = self._module(steps[0]), 1
        while used < len(steps) and steps[used].isidentifier():
            deeper = self._module(".".join(steps[: used + 1]))
            if deeper is None:
                break
            found, used = deeper, used + 1
        return found, used

    # Members

    def _attribute(self, owner: Object, name: str, path: str) -> Object | None:
        if isinstance(owner, Module):
            return self._in_module(owner, name)
        if isinstance(owner, Class):
            return self._in_class(owner, name)
        raise NotFollowed(path)

    def _in_module(self, module: Module, name: str, depth: int = 0) -> Object | None:
        if depth > _DEPTH:
            raise NotFollowed(name)
        member = module.members.get(name)
        if isinstance(member, Alias):
            return self._target(member, module, name, depth)
        if member is not None:
            return member
        if module.overloads.get(name):
            return module.overloads[name][0]
        submodule = self._module(f"{module.path}.{name}")
        return submodule or self._from_wildcards(module, name, depth)

    def _target(self, alias: Alias, module: Module, name: str, depth: int) -> Object | None:
        if alias.target_path == f"{module.path}.{name}":
            return self._module(alias.target_path)
        return self._at(alias.target_path, depth + 1)

    def _from_wildcards(self, module: Module, name: str, depth: int) -> Object | None:
        doubtful = bool(_DYNAMIC.search(_text(module)))
        for member in module.members.values():
            if not (isinstance(member, Alias) and member.wildcard):
                continue
            try:
                found = self._exported(member.wildcard, name, depth)
            except NotFollowed:
                doubtful = True
                continue
            if found is not None:
                return found
        if doubtful:
            raise NotFollowed(name)
        return None

    def _exported(self, path: str, name: str, depth: int) -> Object | None:
        file = self._file(path)
        if file is not None and file.is_file() and not _may_hold(file, name):
            return None
        target = self._at(path, depth + 1)
        if not isinstance(target, Module):
            raise NotFollowed(path)
        public = not name.startswith("_")
        exports = target.exports
        if exports is not None and all(isinstance(item, str) for item in exports):
            public = name in exports
        return self._in_module(target, name, depth + 1) if public else None

    def _at(self, path: str, depth: int) -> Object | None:
        """What stands at a path without calls; NotFollowed outside of the packages on disk."""
        if depth > _DEPTH:
            raise NotFollowed(path)
        parts = path.split(".")
        module, used = self._deepest_module(parts)
        if module is None:
            raise NotFollowed(path)
        found: Object | None = module
        for part in parts[used:]:
            if isinstance(found, Module):
                found = self._in_module(found, part, depth + 1)
            elif isinstance(found, Class):
                found = self._in_class(found, part)
            else:
                raise NotFollowed(path)
            if found is None:
                return None
        return found

    # Classes

    def _in_class(self, owner: Class, name: str) -> Object | None:
        doubtful = False
        for cls in self._lineage(owner):
            if cls is None:
                doubtful = True
                continue
            member = cls.members.get(name)
            if isinstance(member, Alias):
                raise NotFollowed(name)
            if member is not None:
                return member
            if _is_set_on_self(cls, name):
                return Attribute(name, parent=cls)
            doubtful = doubtful or (
                bool({"__getattr__", "__getattribute__"} & cls.members.keys()) and cls.path not in _FORWARDS
            )
        if hasattr(object, name):
            return Attribute(name)
        if doubtful:
            raise NotFollowed(name)
        return None

    def _lineage(self, owner: Class, depth: int = 0) -> Iterator[Class | None]:
        """The class and its bases, depth first; None for one that can't be read."""
        yield owner
        for base in owner.bases:
            path = base if isinstance(base, str) else base.canonical_path
            if path in ("object", "abc.ABC", "typing.Generic", "typing.Protocol"):
                continue
            try:
                found = self._at(path.partition("[")[0], depth + 1)
            except NotFollowed:
                found = None
            if isinstance(found, Class):
                yield from self._lineage(found, depth + 1)
            else:
                yield None

    # Calls

    def _result(self, called: Object, is_result: bool) -> Object:
        """The class of what a call returns: the called class, or the one that a function's annotation names."""
        if isinstance(called, Class) and not is_result:
            return called
        returns = called.returns if isinstance(called, Function) else None
        if isinstance(returns, griffe.ExprName | griffe.ExprAttribute):
            found = self._at(returns.canonical_path, 0)
            if isinstance(found, Class):
                return found
        raise NotFollowed(called.path)

    def _keyword(self, called: Object, name: str) -> Kind:
        if isinstance(called, Function):
            return self._parameter(called, name)
        if not isinstance(called, Class):
            raise NotFollowed(called.path)
        lineage = list(self._lineage(called))
        for cls in lineage:
            if cls is None:
                raise NotFollowed(name)
            makers = [cls.members.get("__init__"), cls.members.get("__new__")]
            for maker in makers:
                if isinstance(maker, Function):
                    return self._parameter(maker, name)
            field = cls.members.get(name)
            if isinstance(field, Attribute) and field.annotation is not None:
                return "parameter"
            if cls.decorators and not any(_is_dataclass(str(d.value)) for d in cls.decorators):
                raise NotFollowed(name)
        return "missing"

    def _parameter(self, function: Function, name: str) -> Kind:
        variants = [function]
        if isinstance(function.parent, Module | Class):
            variants += function.parent.overloads.get(function.name, [])
        parameters = [parameter for variant in variants for parameter in variant.parameters]
        kinds = {parameter.name: parameter.kind for parameter in parameters}
        by_name = kinds.get(name) not in (None, griffe.ParameterKind.positional_only)
        if by_name and kinds[name] is not griffe.ParameterKind.var_positional:
            return "parameter"
        if griffe.ParameterKind.var_keyword in kinds.values():
            return "any keyword"
        return "missing"

    # Files

    def _module(self, path: str) -> Module | None:
        """The module of that path, parsed; None where there is no file for it."""
        if path not in self._modules:
            self._modules[path] = self._parsed(path)
        return self._modules[path]

    def _parsed(self, path: str) -> Module | None:
        parent_path, _, name = path.rpartition(".")
        parent = self._module(parent_path) if parent_path else None
        if parent_path and parent is None:
            return None
        file = self._file(path)
        if file is None:
            return None
        if file.suffix == ".so" or file.is_dir():
            return Module(name, filepath=file, parent=parent)
        return griffe.visit(name, file, file.read_text(encoding="utf-8", errors="replace"), parent=parent)

    def _file(self, path: str) -> Path | None:
        """Stub before source: what is compiled has only the stub. A folder without either is a namespace."""
        stem = Path(*path.split("."))
        for folder in self._folders:
            for end in ("/__init__.py", ".py", "/__init__.pyi", ".pyi"):
                file = folder / f"{stem}{end}"
                if file.is_file():
                    return file
            compiled = sorted((folder / stem.parent).glob(f"{stem.name}.*.so"))
            if compiled:
                return compiled[0]
            if any((folder / stem).glob("*.py")) or any((folder / stem).glob("*/__init__.py")):
                return folder / stem
        return None


def _steps(name: str) -> list[str]:
    """``a.B(c=)`` → a, B, c=; ``a.B().d`` → a, B, (), d."""
    return [
        plain or call or f"{keyword}="
        for plain, call, keyword in (match.groups() for match in _STEP.finditer(name))
    ]


def _kind_of(found: Object) -> Kind:
    if isinstance(found, Module):
        return "module"
    if isinstance(found, Class):
        return "class"
    return "function" if isinstance(found, Function) and "property" not in found.labels else "attribute"


def _may_hold(file: Path, name: str) -> bool:
    """Whether parsing the module is worth while: its text has the name, or brings names from elsewhere."""
    text = file.read_text(encoding="utf-8", errors="replace")
    return file.suffix == ".so" or name in text or "import *" in text or bool(_DYNAMIC.search(text))


def _text(module: Module) -> str:
    file = module.filepath
    if not isinstance(file, Path) or not file.is_file() or file.suffix == ".so":
        # A compiled module without a stub, or a namespace: anything may be in there.
        return "globals()"
    return file.read_text(encoding="utf-8", errors="replace")


def _is_set_on_self(cls: Class, name: str) -> bool:
    """Whether some method assigns the attribute; griffe looks into ``__init__`` alone."""
    if not isinstance(cls.filepath, Path) or cls.lineno is None or cls.endlineno is None:
        return False
    lines = cls.filepath.read_text(encoding="utf-8", errors="replace").splitlines()
    body = "\n".join(lines[cls.lineno - 1 : cls.endlineno])
    return re.search(rf"\bself\.{name}\b[^=\n()]*=(?!=)", body) is not None


def _is_dataclass(decorator: str) -> bool:
    return decorator.partition("(")[0].rpartition(".")[2] == "dataclass"
