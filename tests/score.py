"""Scores the diagnosis on logs whose answer is known: ``python tests/score.py FOLDER``.

FOLDER holds ``captured/`` (logs with expected.jsonl) or ``cases/cases.jsonl`` (excerpts of public reports),
or both. Prints what is wrong and the shares. Exit 1 where a bar of the project is missed.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from generator.bundle import bundle  # noqa: E402
from generator.catalogue import Catalogue  # noqa: E402
from generator.diagnose.engine import Engine  # noqa: E402
from generator.load import load  # noqa: E402

STRENGTH = ("clean", "undecided", "suspected", "supported", "established")
CONFIDENT = ("supported", "established")
Row = dict[str, Any]


def captured_is_right(expected: Row, answer: Row) -> bool:
    """The line, the ranks and the symmetry are right, and the verdict is no stronger than the log allows."""
    found = answer["initiating"] or {"line": None, "ranks": [], "symmetric": False}
    accepted = [*expected["lines"], *expected["also"], *([] if expected["lines"] else [None])]
    grades = answer["verdict"], expected["verdict"]
    honest = (
        grades[0] == grades[1]
        if "clean" in grades
        else STRENGTH.index(grades[0]) <= STRENGTH.index(grades[1])
    )
    return (
        honest
        and found["line"] in accepted
        and found["ranks"] == expected["ranks"]
        and found["symmetric"] == expected["symmetric"]
    )


def case_is_right(case: Row, answer: Row) -> bool:
    """An accepted line is named; where all is collateral, none is named with confidence."""
    line = answer["initiating"]["line"] if answer["initiating"] else None
    confident = answer["verdict"] in CONFIDENT
    if case["lines"]:
        return line in [*case["lines"], *case["also"]]
    return (not confident and line not in case["victims"]) or line in case["also"]


def main(folder: Path) -> int:
    engine = Engine(bundle(Catalogue(load(ROOT / "content")[0])))
    return max(score_captured(engine, folder / "captured"), score_cases(engine, folder / "cases"))


def score_captured(engine: Engine, folder: Path) -> int:
    rows = _rows(folder / "expected.jsonl")
    wrong = []
    for row in rows:
        name = f"{row['name']}.log"
        answer = engine.diagnose([(name, io.BytesIO((folder / name).read_bytes()))])
        if not captured_is_right(row, answer):
            wrong.append(name)
            _tell(name, answer, f"{row['verdict']} {row['lines']} {row['ranks']}")
    if rows:
        print(f"captured: {len(rows) - len(wrong)} of {len(rows)} right")
    return int(bool(wrong))


def score_cases(engine: Engine, folder: Path) -> int:
    rows = _rows(folder / "cases.jsonl")
    right = misleading = misleading_right = confident_wrong = 0
    for row in rows:
        answer = engine.diagnose([(row["id"], io.BytesIO(row["log"].encode()))])
        good = case_is_right(row, answer)
        right += good
        misleading += row["misleading"]
        misleading_right += good and row["misleading"]
        confident_wrong += not good and answer["verdict"] in CONFIDENT
        if not good:
            _tell(row["id"], answer, f"{row['lines']} {row['also']}")
    if not rows:
        return 0
    print(
        f"cases: {_share(right, len(rows))} right, of the misleading {_share(misleading_right, misleading)}"
    )
    print(f"cases: {_share(confident_wrong, len(rows))} wrong with confidence")
    passed = 100 * right >= 85 * len(rows) and 100 * misleading_right >= 80 * misleading
    return int(not passed or 100 * confident_wrong > 5 * len(rows))


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def _tell(name: str, answer: Row, wanted: str) -> None:
    found = answer["initiating"] or {}
    print(f"{name}: {answer['verdict']} {found.get('line')} {found.get('ranks')}, wanted {wanted}")


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part // max(whole, 1)} %)"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
