"""What the code of an entry uses, whether a package on disk has it, and what the probe says of modules."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from generator.catalogue import Catalogue
from generator.checks.code import check
from generator.code_evidence import __main__ as command
from generator.code_evidence.api import Source
from generator.code_evidence.auto import fill
from generator.code_evidence.packages import Environment
from generator.code_evidence.probe import kind_of
from generator.code_evidence.record import Answer, Record, to_text
from generator.code_evidence.uses import Configuration, configurations, used_names
from generator.evidence.packages import PackageError
from generator.load import load
from generator.model import Snippet

RIGHT = Path(__file__).parent / "malformed" / "content"

PACKAGE = {
    "shards/__init__.py": """
        from typing import TYPE_CHECKING
        from .engine import *
        from .fragment import fragment
        from .lazy import made_late
        from elsewhere import borrowed

        def gather(parameters, *, rank=None): ...
        def anything(**options): ...
        """,
    "shards/engine.py": """
        from dataclasses import dataclass
        from .base import Base

        __all__ = ["Engine", "Settings", "Free"]

        class Engine(Base):
            def __init__(self, model, config=None):
                self.module = model
                self._prepare()

            def _prepare(self):
                self.global_rank = 0

            def clone(self) -> "Engine": ...

        @dataclass
        class Settings:
            stage: int
            offload: bool = False

        class Free:
            def __getattr__(self, name): ...

        class Hidden: ...
        """,
    "shards/base.py": """
        class Base:
            def step(self, closure=None): ...
        """,
    "shards/fragment.py": """
        class fragment: ...
        def address(): ...
        """,
    "shards/lazy.py": """
        for name in ("made_late", "made_later"):
            globals()[name] = len
        """,
    "shards/native.pyi": """
        from typing import overload

        @overload
        def fused(size: int) -> int: ...
        @overload
        def fused(size: int, *, out: int) -> int: ...
        """,
}
KINDS = {
    "shards": "module",
    "shards.gather": "function",
    "shards.gather(rank=)": "parameter",
    "shards.gather(ranks=)": "missing",
    "shards.scatter": "missing",
    "shards.anything(size=)": "any keyword",
    "shards.Engine": "class",
    "shards.Engine(config=)": "parameter",
    "shards.Engine(configuration=)": "missing",
    "shards.Engine().step": "function",
    "shards.Engine().step(closure=)": "parameter",
    "shards.Engine().stop": "missing",
    "shards.Engine().module": "attribute",
    "shards.Engine().global_rank": "attribute",
    "shards.Engine().clone().step": "function",
    "shards.Engine().step().step": "not followed",
    "shards.Hidden": "missing",
    "shards.engine.Hidden": "class",
    "shards.Settings(offload=)": "parameter",
    "shards.Settings(offloads=)": "missing",
    "shards.Free().whatever": "not followed",
    "shards.fragment.address": "function",
    "shards.lazy.made_late": "not followed",
    "shards.made_late": "not followed",
    "shards.borrowed": "not followed",
    "shards.native.fused": "function",
    "shards.native.fused(out=)": "parameter",
    "shards.native.fused(into=)": "missing",
    "other": "missing",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder such as site-packages, with one small package."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in PACKAGE.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(line.removeprefix("        ") for line in text.splitlines()))
    return folder


@pytest.mark.parametrize("name", KINDS)
def test_source_tells_what_a_name_is(site: Path, name: str) -> None:
    assert Source(site).kind(name) == KINDS[name]


def python(code: str) -> Snippet:
    return Snippet(language="python", code=code)


def names(code: str) -> list[str]:
    modules = frozenset({"torch", "deepspeed", "accelerate"})
    return sorted(use.name for use in used_names(python(code), modules))


def test_imports_dots_keywords_and_results_are_names() -> None:
    code = "import torch.nn as nn\nlayer = nn.Linear(8, 8, bias=False)\nlayer.weight.data\nprint(layer)\n"
    assert names(code) == [
        "torch.nn",
        "torch.nn.Linear",
        "torch.nn.Linear().weight",
        "torch.nn.Linear().weight.data",
        "torch.nn.Linear(bias=)",
    ]


def test_a_name_with_two_meanings_is_not_followed() -> None:
    assert names("import torch\nx = torch.ones(1)\nx = 2\nx.real\n") == ["torch", "torch.ones"]
    assert names("from torch import nn\ndef f(nn):\n    nn.Foo\n") == ["torch.nn"]


def test_setting_an_attribute_asks_for_none() -> None:
    assert names("import torch\ntorch.backends.mine = 1\n") == ["torch", "torch.backends"]


def test_engine_and_accelerator_are_what_our_snippets_mean_by_them() -> None:
    assert names("engine.step()") == ["deepspeed.DeepSpeedEngine().step"]
    assert names("engine.train_batch()") == ["deepspeed.PipelineEngine().train_batch"]
    assert names("accelerator.prepare(x)") == ["accelerate.Accelerator().prepare"]
    assert names("engine = start()\nengine.step()") == []
    assert "deepspeed.DeepSpeedEngine().step" in names(
        "import deepspeed\nengine, *_ = deepspeed.initialize(model=m)\nengine.step()"
    )


def test_keys_of_a_file_for_accelerate_are_parameters_of_its_class() -> None:
    text = "distributed_type: DEEPSPEED\nnum_process: 8\n"
    found = used_names(Snippet(language="yaml", code=text), frozenset({"accelerate"}))
    config = "accelerate.commands.config.config_args.ClusterConfig"
    assert [(use.name, use.line) for use in found] == [
        (f"{config}(distributed_type=)", 1),
        (f"{config}(num_process=)", 2),
    ]
    assert used_names(Snippet(language="yaml", code="kind: Pod\n"), frozenset({"accelerate"})) == ()


def test_what_is_no_python_uses_nothing() -> None:
    assert names("def f(:\n") == []
    assert used_names(Snippet(language="bash", code="import torch"), frozenset({"torch"})) == ()


def test_configurations_are_found_in_json_and_in_dicts() -> None:
    text = '{"fp16": {"enabled": true}}'
    assert configurations(Snippet(language="json", code=text)) == (
        Configuration({"fp16": {"enabled": True}}, 1),
    )
    assert configurations(Snippet(language="json", code='{"model_type": "llama"}')) == ()
    found = configurations(python('x = 1\nd = {"zero_optimization": {"stage": 3}, "steps": [1]}'))
    assert found == (Configuration({"zero_optimization": {"stage": 3}, "steps": [1]}, 2),)
    assert configurations(python('d = {"train_batch_size": size}')) == ()


def test_the_key_of_a_question_tells_release_and_ranks_apart() -> None:
    one = Configuration({"train_batch_size": 8, "fp16": {}}, 1)
    same = Configuration({"fp16": {}, "train_batch_size": 8}, 9)
    assert one.key("deepspeed==0.19.8", 1) == same.key("deepspeed==0.19.8", 1)
    assert len({one.key("deepspeed==0.19.8", n) for n in (1, 2)} | {one.key("deepspeed==0.15.4", 1)}) == 3


def test_auto_becomes_what_the_trainer_would_write() -> None:
    config = {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": "auto"}}
    filled, keys = fill(config, 2)
    assert filled == {"train_batch_size": 8, "train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": True}}
    assert keys == ("bf16.enabled", "train_batch_size")
    assert config["bf16"] == {"enabled": "auto"}
    both = {"bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}}
    assert fill(both, 1)[0] == {"bf16": {"enabled": True}, "fp16": {"enabled": False}}
    assert fill({"zero_optimization": {"stage": "auto"}}, 1)[1] == ()


def test_the_probe_asks_what_is_imported() -> None:
    assert kind_of("json") == "module"
    assert kind_of("json.dumps") == "function"
    assert kind_of("json.dump") == "function"
    assert kind_of("json.dumbs") == "missing"
    assert kind_of("json.JSONDecodeError") == "class"
    assert kind_of("json.dumps(indent=)") == "parameter"
    assert kind_of("logging.getLogger(nam=)") == "missing"
    assert kind_of("pathlib.Path().read_text") == "function"
    assert kind_of("pathlib.Path().read_txt") is None
    assert kind_of("no_such_module.x") is None


def test_the_probe_runs_as_a_script(tmp_path: Path) -> None:
    request, answer = tmp_path / "request.json", tmp_path / "answer.json"
    request.write_text(json.dumps({"names": ["json.dumbs"], "configurations": [], "ranks": 1}))
    subprocess.run([sys.executable, "-I", str(command.PROBE), str(request), str(answer)], check=True)
    assert json.loads(answer.read_text()) == {"names": {"json.dumbs": "missing"}, "configurations": []}


FAKE_DEEPSPEED = """
class DeepSpeedConfig:
    def __init__(self, config):
        if "stag" in config.get("zero_optimization", {}):
            raise ValueError("stag\\n  Extra inputs are not permitted")
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """The tests' interpreter, as if it held a deepspeed 0.19.8 whose configuration class knows one rule."""
    held = Environment(Path(sys.executable), tmp_path / "cache")
    package = tmp_path / "cache/unpacked/deepspeed-0.19.8/deepspeed"
    (package / "runtime").mkdir(parents=True)
    (package / "__init__.py").write_text("def initialize(model=None): ...\n")
    (package / "runtime/__init__.py").touch()
    (package / "runtime/config.py").write_text(FAKE_DEEPSPEED)
    return held


def content_with(tmp_path: Path, code: str, more: str = "") -> Path:
    """A copy of the small content in which the short entry has this Python snippet."""
    folder = tmp_path / "content"
    if not folder.exists():
        shutil.copytree(RIGHT, folder)
    entry = folder / "failures/port-taken/entry.yaml"
    body = "".join(f"          {line}\n" for line in code.splitlines())
    snippet = f"    snippets:\n      - language: python\n{more}        code: |\n{body}"
    text = (RIGHT / "failures/port-taken/entry.yaml").read_text()
    entry.write_text(
        text.replace("    steps: [Send it SIGTERM.]\n", f"    steps: [Send it SIGTERM.]\n{snippet}")
    )
    return folder


def recorded(folder: Path, environment: Environment) -> list[str]:
    """The codes and messages that the check gives after a renewal of the short entry's record."""
    content, findings = load(folder)
    assert findings == []
    short = next(loaded for loaded in content.entries if loaded.slug == "port-taken")
    records = command.renewed([short], content, environment)
    command.write(folder / "failures/port-taken/snippets.json", records["port-taken"])
    content, _ = load(folder)
    short = next(loaded for loaded in content.entries if loaded.slug == "port-taken")
    return [f"{f.code}: {f.message}" for f in check(short, Catalogue(content))]


def test_the_recorder_finds_a_planted_name(tmp_path: Path, environment: Environment) -> None:
    code = "import deepspeed\ndeepspeed.initialize(model=m)\ndeepspeed.initialise(m)\n"
    folder = content_with(tmp_path, code)
    assert recorded(folder, environment) == [
        "unknown-name: deepspeed.initialise does not exist in deepspeed 0.19.8"
    ]
    excused = content_with(tmp_path, code, "        missing: [deepspeed.initialise]\n")
    assert recorded(excused, environment) == []


def test_the_recorder_finds_a_planted_keyword(tmp_path: Path, environment: Environment) -> None:
    folder = content_with(tmp_path, "import deepspeed\ndeepspeed.initialize(modell=m)\n")
    assert recorded(folder, environment) == [
        "unknown-name: deepspeed.initialize(modell=) does not exist in deepspeed 0.19.8"
    ]


def test_a_name_called_missing_that_is_there_is_told(tmp_path: Path, environment: Environment) -> None:
    code = "import deepspeed\ndeepspeed.initialize(model=m)\n"
    folder = content_with(tmp_path, code, "        missing: [deepspeed.initialize]\n")
    assert recorded(folder, environment) == [
        "not-missing: deepspeed.initialize is in deepspeed 0.19.8: function"
    ]


def test_the_recorder_finds_a_planted_configuration(tmp_path: Path, environment: Environment) -> None:
    code = 'c = {"zero_optimization": {"stag": 3}}\n'
    said = "ValueError: stag Extra inputs are not permitted"
    folder = content_with(tmp_path, code)
    refusal = f"configuration: deepspeed 0.19.8 refuses this configuration: '{said}'"
    assert recorded(folder, environment) == [refusal]
    claimed = content_with(tmp_path, code, '        refused: "stag Extra inputs"\n')
    assert recorded(claimed, environment) == []
    misquoted = content_with(tmp_path, code, '        refused: "stage is wrong"\n')
    assert recorded(misquoted, environment) == [refusal]
    untrue = content_with(tmp_path, code.replace("stag", "stage"), "        refused: stag\n")
    assert recorded(untrue, environment) == [
        "configuration: DeepSpeed takes this configuration, 'stag' is not said"
    ]


def test_what_is_on_record_is_not_asked_again(tmp_path: Path, environment: Environment) -> None:
    folder = content_with(tmp_path, "import deepspeed\n")
    known = Record(names={"deepspeed==0.19.8": {"deepspeed": "class"}})
    command.write(folder / "failures/port-taken/snippets.json", known)
    content, _ = load(folder)
    short = [loaded for loaded in content.entries if loaded.slug == "port-taken"]
    assert command.renewed(short, content, environment)["port-taken"] == known
    anew = command.renewed(short, content, environment, anew=True)["port-taken"]
    assert anew.names == {"deepspeed==0.19.8": {"deepspeed": "module"}}


def test_a_short_entry_may_wait_for_its_record(tmp_path: Path) -> None:
    content, _ = load(content_with(tmp_path, "import deepspeed\n"))
    short = next(loaded for loaded in content.entries if loaded.slug == "port-taken")
    assert [(f.code, f.severity) for f in check(short, Catalogue(content))] == [("unrecorded", "warning")]


def test_an_interpreter_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="no Python interpreter"):
        Environment(tmp_path / "python", tmp_path)


def test_a_record_survives_its_file() -> None:
    answer = Answer(release="deepspeed==0.19.8", ranks=4, filled=("bf16.enabled",), refused="ValueError: no")
    record = Record(names={"torch==2.13.0": {"torch": "module"}}, configurations={"0a": answer})
    assert Record.model_validate_json(to_text(record)) == record
