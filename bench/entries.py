"""Entries as rich as the real ones, as many as one asks for, the same from the same seed and content.

``python bench/entries.py COUNT FOLDER [SEED]`` writes a content folder that ``check`` has nothing against.

An entry takes its shape from a real one, each in turn: which parts it has, how many causes, fixes, questions,
examples, signatures and logs, how long each text is, what of it is a list, a table, a link or code. So counts and
lengths are distributed as in the content, by themselves. The words are drawn anew: a word of the same length, as
often as the content has it. Of the words that stand in one real entry only, half are made up, since a larger
encyclopedia also has more words. Messages are made up, each has one owner, and the logs print them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from generator.checks.filler import PHRASES  # noqa: E402
from generator.checks.texts import texts  # noqa: E402
from generator.code_evidence.record import FILE as SNIPPETS  # noqa: E402
from generator.code_evidence.uses import Configuration, configurations, releases, snippets  # noqa: E402
from generator.content import Content, FieldPath, LoadedEntry  # noqa: E402
from generator.corpora import FILE as CORPORA  # noqa: E402
from generator.evidence.record import FILE as EVIDENCE  # noqa: E402
from generator.evidence.record import digest  # noqa: E402
from generator.load import load  # noqa: E402
from generator.model import Entry, Log, Package, Signature, Snippet  # noqa: E402
from generator.signature import TemplateError, compile_template  # noqa: E402

SEED = 7
KEPT_FOLDERS = ("healthy", "hubs", "lines", "pages", "taxonomy")
KEPT_TEXTS = frozenset({"tag", "path", "file", "missing", "refused", "version", "who", "packages"})
"""Plain texts that name something, and those that must fit a drawing."""
_CAUSES = ("cause", "confirmation")


@dataclass(frozen=True)
class Made:
    """A generated entry: the files of its folder, and its row a log in the record of the corpora."""

    slug: str
    files: Mapping[str, bytes]
    trials: tuple[Mapping[str, Any], ...]


def write(folder: Path, count: int, seed: int = SEED, source: Path = ROOT / "content") -> None:
    """Make ``folder`` a content folder of ``count`` entries (two at least); what is there is replaced."""
    content, _ = load(source)
    made = Generator(content, count, seed)
    shutil.rmtree(folder, ignore_errors=True)
    for name in KEPT_FOLDERS:
        shutil.copytree(source / name, folder / name)
    shutil.copytree(source / "evidence", folder / "evidence")
    shutil.copy(source / "entry.schema.json", folder)
    rows: list[str] = []
    for entry in made.entries():
        home = folder / "failures" / entry.slug
        home.mkdir(parents=True)
        for name, data in entry.files.items():
            (home / name).write_bytes(data)
        rows += map(json.dumps, entry.trials)
    corpora = '{"logs": [\n' + ",\n".join(rows) + '\n], "unseen": []}\n'
    (folder / "evidence" / CORPORA).write_text(corpora, encoding="utf-8")


class Generator:
    """Draws entries; each depends on the seed, its number and the content only, on no other entry."""

    def __init__(self, content: Content, count: int, seed: int = SEED) -> None:
        if count < 2:
            raise ValueError("two entries at least: their logs name one another")
        self.count, self.seed = count, seed
        self.words = Vocabulary(content.entries)
        originals = {loaded.slug for loaded in content.entries}
        usable = [loaded for loaded in content.entries if _prints(loaded.entry)]
        Random(seed).shuffle(usable)
        self.shapes = [Shape(loaded, originals, content.packages) for loaded in usable]

    def entries(self) -> Iterator[Made]:
        for number in range(self.count):
            yield self.entry(number)

    def slug(self, number: int) -> str:
        draw = Random(f"{self.seed}/slug/{number}")
        words = (self.words.made(draw, draw.randint(4, 8)) for _ in range(3))
        return f"{'-'.join(words)}-{number}"

    def entry(self, number: int) -> Made:
        return _Drawing(self, number).made()

    def signatures(self, number: int) -> tuple[Signature, ...]:
        """The messages of an entry; the same whether the entry has been drawn yet or not."""
        draw = Random(f"{self.seed}/messages/{number}")
        return tuple(_anew(self.words, draw, one) for one in self.shape(number).loaded.entry.signatures)

    def shape(self, number: int) -> Shape:
        return self.shapes[number % len(self.shapes)]


def _prints(entry: Entry) -> bool:
    """Whether a log can be made in which this entry is the failure."""
    return entry.status != "withdrawn" and any(one.role in _CAUSES for one in entry.signatures)


# --- words


_WORD = re.compile("[A-Za-z]+")


class Vocabulary:
    """The words of the content by length, as often as it has them, and words that it doesn't have."""

    def __init__(self, entries: Sequence[LoadedEntry]) -> None:
        counts: Counter[str] = Counter()
        self.holders: Counter[str] = Counter()
        for loaded in entries:
            prose = (text.value for text in texts(loaded.entry) if text.kind in ("inline", "markdown"))
            here = Counter(word for value in prose for word in re.findall(r"\b[a-z]+\b", value))
            counts.update(here)
            self.holders.update(here.keys())
        for word in _banned(counts):
            counts.pop(word, None)
        self.by_length: dict[int, tuple[list[str], list[int]]] = {}
        for length in {len(word) for word in counts}:
            words = sorted(word for word in counts if len(word) == length)
            self.by_length[length] = words, list(accumulate(counts[word] for word in words))

    def drawn(self, draw: Random, word: str) -> str:
        """Another word as long as this one, capitalized as it is."""
        length = len(word)
        words, sums = self.by_length.get(length, ([], []))
        if len(words) < 50:
            new = self.made(draw, length)
        else:
            new = words[bisect(sums, draw.random() * sums[-1])]
            if self.holders[new] == 1 and draw.random() < 0.5:
                new = self.made(draw, length)
        return new.capitalize() if word[0].isupper() else new

    def made(self, draw: Random, length: int) -> str:
        """A word of so many letters that can be said, and mostly isn't English."""
        size = length // 2 + 1
        consonants, vowels = draw.choices("bdfgklmnprstvz", k=size), draw.choices("aeiou", k=size)
        return "".join(c + v for c, v in zip(consonants, vowels, strict=True))[:length]


def _banned(counts: Counter[str]) -> Iterator[str]:
    """What would mean something to YAML, and the rarest word of each phrase that ``check`` refuses."""
    yield "null"
    for phrase in PHRASES:
        yield min(_WORD.findall(phrase.lower()), key=lambda word: counts[word])


# --- a real entry as a shape


Fill = Callable[["_Drawing"], str]
Piece = str | Fill
Span = tuple[int, int, list[Piece]]
"""Where a part of the source begins and ends, and what stands there instead."""
_PROSE = re.compile(
    r"(?P<code>```.*?```|`[^`]+`)|(?P<link>\]\([^)\s]*\))"
    r"|(?P<kept>\\.|'[a-z]{1,2}\b|https?://\S+|[A-Za-z.+-]*[0-9_/][\w./+-]*|[A-Za-z]*[a-z][A-Z]\w*)|(?P<word>[A-Za-z]+)",
    re.DOTALL,
)
_NAMES = re.compile(r"(?P<kept>\\.|https?://\S+|\b[A-Za-z]{1,2}\b|^```\w*)|(?P<word>[A-Za-z]+)")
_OTHER_ENTRY = re.compile(r"\]\(\.\./([a-z0-9-]+)/")


class Shape:
    """A real entry's YAML, cut into what stays and what is drawn for each generated entry."""

    def __init__(self, loaded: LoadedEntry, slugs: set[str], packages: tuple[Package, ...]) -> None:
        self.loaded, self.slugs = loaded, slugs
        self.source = loaded.positions.source
        self.ends = {
            event.start_mark.index: event.end_mark.index
            for event in yaml.parse(self.source, Loader=yaml.CSafeLoader)
            if isinstance(event, yaml.ScalarEvent) and event.start_mark and event.end_mark
        }
        self.logs = self._logs_span()
        spans: list[Span] = [*self._text_spans(), *self._name_spans(), (*self.logs, [_Drawing.logs])]
        self.pieces = list(self._joined(sorted(spans, key=lambda span: span[0])))
        record = loaded.files.get(SNIPPETS)
        self.record: Any = json.loads(record) if record else None
        self.json_answers = list(self._json_answers(packages))
        self.kept_answers = set(self._kept_answers(packages))

    def _span(self, field: FieldPath) -> tuple[int, int] | None:
        at = self.loaded.positions.scalars.get(field)
        return None if at is None else (at[0], self.ends[at[0]])

    def _logs_span(self) -> tuple[int, int]:
        """The part of the YAML that tells of the logs."""
        match = re.search(r"^logs:.*?(?=^[a-z_]+:|\Z)", self.source, re.DOTALL | re.MULTILINE)
        return match.span() if match else (len(self.source), len(self.source))

    def _joined(self, spans: Sequence[Span]) -> Iterator[Piece]:
        done = 0
        for start, end, pieces in spans:
            yield self.source[done:start]
            yield from pieces
            done = end
        yield self.source[done:]

    def _text_spans(self) -> Iterator[Span]:
        for text in texts(self.loaded.entry):
            span = self._span(text.field)
            keys = {str(part) for part in text.field}
            if span is None or text.field[0] == "logs" or keys & KEPT_TEXTS or "spans" in keys:
                continue
            raw = self.source[slice(*span)]
            if text.kind == "template":
                yield *span, [_message(text.field, text.value)]
            elif text.kind == "code":
                yield *span, list(_code(raw, self._language(text.field)))
            else:
                yield *span, list(_prose(raw, self.slugs))

    def _language(self, field: FieldPath) -> str:
        part: Any = self.loaded.entry
        for key in field[:-1]:
            part = part[key] if isinstance(key, int) else getattr(part, str(key))
        return part.language if isinstance(part, Snippet) else ""

    def _name_spans(self) -> Iterator[Span]:
        """The names of other entries, former names, and the numbers in references' addresses."""
        entry = self.loaded.entry
        others: list[FieldPath] = [("look_alikes", i, "entry") for i in range(len(entry.look_alikes))]
        for field in [*others, ("superseded_by",)]:
            if span := self._span(field):
                yield *span, [_Drawing.other]
        for i in range(len(entry.aliases)):
            if span := self._span(("aliases", i)):
                yield *span, [_alias(i)]
        for i in range(len(entry.references)):
            if span := self._span(("references", i, "url")):
                raw = self.source[slice(*span)]
                yield *span, [_numbered(raw)]

    def _json_answers(self, packages: tuple[Package, ...]) -> Iterator[tuple[Snippet, str, Any]]:
        """JSON configurations with their release and what DeepSpeed said to them: their keys change with the text."""
        for _, snippet in snippets(self.loaded.entry):
            if snippet.language == "json" and self.record:
                release = releases(snippet, packages)["deepspeed"]
                key = _configuration_key(snippet.code, release, snippet)
                if (answer := self.record["configurations"].get(key)) is not None:
                    yield snippet, release, answer

    def _kept_answers(self, packages: tuple[Package, ...]) -> Iterator[str]:
        """The keys of the configurations that Python code shows, which stay as they are."""
        for _, snippet in snippets(self.loaded.entry):
            for shown in configurations(snippet) if snippet.language != "json" else ():
                yield shown.key(releases(snippet, packages)["deepspeed"], snippet.ranks or 1)


def _prose(raw: str, slugs: set[str]) -> Iterator[Piece]:
    done = kept = 0
    for match in _PROSE.finditer(raw):
        yield raw[done : match.start()]
        done = match.end()
        if (word := match["word"]) and (len(word) == 1 or not word.isupper()):
            yield _word(word)
        elif match["code"]:
            yield from _names(match[0])
        elif (link := _OTHER_ENTRY.match(match[0])) and link[1] in slugs:
            yield "](../"
            yield _Drawing.other
            yield "/)"
        elif match[0].startswith(("http", "](http")):
            scheme, _, address = match[0].partition("//")
            yield from (f"{scheme}//", _made(5), ".", _made(6), f".{address}")
        elif match["kept"] and match[0][0].isalnum() and (kept := kept + 1) % 2 == 0:
            # What is a row of numbers else would be the same sentence in each entry of this shape.
            yield _made(max(4, len(match[0])))
        else:
            yield match[0]
    yield raw[done:]


def _names(raw: str) -> Iterator[Piece]:
    """Code inside prose, and commands: each run of letters is another."""
    done = 0
    for match in _NAMES.finditer(raw):
        yield raw[done : match.start()]
        done = match.end()
        yield _word(match[0]) if match["word"] else match[0]
    yield raw[done:]


def _code(raw: str, language: str) -> Iterator[Piece]:
    """Code that is checked stays as it is, but for a comment (in JSON, a key) of its own."""
    if not language:
        yield from _names(raw)
    elif language == "json":
        before, brace, after = raw.partition("{")
        yield before
        if brace:
            yield lambda drawing: drawing.json_brace(raw.startswith('"'))
        yield after
    elif (match := re.match(r"\|[^\n]*\n(?:[ \t]*\n)*( *)", raw)) or (match := re.match('"()', raw)):
        end = "\n" + match[1] if raw[0] == "|" else "\\n"
        yield match[0]
        yield lambda drawing: drawing.comment() + end
        yield raw[match.end() :]
    else:
        yield raw


def _word(word: str) -> Fill:
    return lambda drawing: drawing.words.drawn(drawing.draw, word)


def _made(length: int) -> Fill:
    return lambda drawing: drawing.words.made(drawing.draw, length)


def _alias(number: int) -> Fill:
    return lambda drawing: f"former-{drawing.slug}-{number}"


def _numbered(url: str) -> Fill:
    """The address with another number at its end, as issues have it."""
    head, digits, tail = re.fullmatch(r"(.*?)(\d*)(\D*)", url, re.DOTALL).groups()  # type: ignore[union-attr]
    return lambda drawing: head + (str(drawing.draw.randrange(10**4, 10**5)) if digits else "") + tail


def _message(field: FieldPath, template: str) -> Fill:
    def fill(drawing: _Drawing) -> str:
        if field[0] != "signatures":
            return _quoted(_message_anew(drawing.words, drawing.draw, template))
        value: Any = drawing.signatures
        for key in field[1:]:
            value = value[key] if isinstance(key, int) else getattr(value, str(key))
        return _quoted(value)

    return fill


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _configuration_key(code: str, release: str, snippet: Snippet) -> str:
    try:
        value = json.loads(code)
    except ValueError:
        return ""
    return Configuration(value, 1).key(release, snippet.ranks or 1)


# --- messages


_LITERAL = re.compile(
    r"\{\{|\}\}|\{[^{}]*\}|%[-0-9.]*[a-z]|[A-Z]\w*(?:Error|Exception|Warning)\b|(?P<word>[A-Za-z]{3,})"
)
_SAMPLES = {
    "int": "7",
    "num": "1.5",
    "hex": "0x7f3a",
    "size": "2.50 GiB",
    "word": "alpha",
    "path": "/data/run/part.bin",
    "quoted": "'alpha'",
    "any": "alpha",
}
_HOLE = re.compile(r"\{\{|\}\}|\{([a-z]+)(?::[a-z0-9_]+)?\}")


def _anew(words: Vocabulary, draw: Random, signature: Signature) -> Signature:
    """A signature of the same form whose words nobody else has; its template compiles."""

    def condition(template: str) -> str:
        return _message_anew(words, draw, template)

    for _ in range(50):
        text = _message_anew(words, draw, signature.text)
        try:
            compile_template(text)
        except TemplateError:
            continue
        break
    else:
        raise ValueError(f"no message can be made of {signature.text!r}")
    source = signature.source
    if source is not None and source.literal is not None:
        source = source.model_copy(update={"literal": condition(source.literal)})
    needs, unless = map(condition, signature.needs), map(condition, signature.unless)
    return signature.model_copy(
        update={"text": text, "source": source, "needs": tuple(needs), "unless": tuple(unless)}
    )


def _message_anew(words: Vocabulary, draw: Random, template: str) -> str:
    def another(match: re.Match[str]) -> str:
        word = match["word"]
        if word is None:
            return match[0]
        made = words.made(draw, len(word))
        return made.upper() if word.isupper() else made.capitalize() if word[0].isupper() else made

    return _LITERAL.sub(another, template)


def _printed(template: str) -> str:
    """A line, or lines, as the template's message is printed."""
    return _HOLE.sub(lambda hole: _SAMPLES[hole[1]] if hole[1] else hole[0][0], template)


# --- one entry


class _Drawing:
    """One entry while it is drawn."""

    def __init__(self, generator: Generator, number: int) -> None:
        self.generator, self.number = generator, number
        self.words, self.shape = generator.words, generator.shape(number)
        self.draw = Random(f"{generator.seed}/entry/{number}")
        self.slug = generator.slug(number)
        self.signatures = generator.signatures(number)
        self.key = f"{self.words.made(self.draw, 6)}_{number}"
        self.log_files: dict[str, bytes] = {}
        self.trials: list[Mapping[str, Any]] = []

    def made(self) -> Made:
        pieces = self.shape.pieces
        text = "".join([piece if isinstance(piece, str) else piece(self) for piece in pieces])
        files = {"entry.yaml": text.encode(), **self.log_files, **dict(self._records())}
        if (repro := self.shape.loaded.files.get("repro.py")) is not None:
            files["repro.py"] = repro.rstrip() + f"\n{self.comment()}\n".encode()
        return Made(self.slug, files, tuple(self.trials))

    def other(self) -> str:
        """The slug of another entry."""
        number = self.draw.randrange(self.generator.count - 1)
        return self.generator.slug(number + (number >= self.number))

    def comment(self) -> str:
        return "# " + " ".join(self.words.made(self.draw, length) for length in (5, 7, 6))

    def json_brace(self, in_quotes: bool = False) -> str:
        """A configuration's first brace, and a key that no other entry has."""
        text = f'{{"{self.key}": 1, '
        return text.replace('"', '\\"') if in_quotes else text

    def _records(self) -> Iterator[tuple[str, bytes]]:
        """What was found out about the original's code and messages, told of those that were drawn."""
        if self.shape.record:
            record = dict(self.shape.record)
            kept = self.shape.kept_answers
            record["configurations"] = {
                key: said for key, said in record["configurations"].items() if key in kept
            }
            for snippet, release, answer in self.shape.json_answers:
                drawn = snippet.code.replace("{", self.json_brace(), 1)
                record["configurations"][_configuration_key(drawn, release, snippet)] = answer
            yield SNIPPETS, json.dumps(record, indent=1).encode()
        if (data := self.shape.loaded.files.get(EVIDENCE)) is not None:
            evidence = json.loads(data)
            for signature in self.signatures:
                if signature.id in evidence["signatures"]:
                    evidence["signatures"][signature.id]["of"] = digest(signature)
            yield EVIDENCE, json.dumps(evidence, indent=1).encode()

    def logs(self) -> str:
        """The entry's logs in YAML; beside it, the files."""
        rows = ["logs:"]
        for i, log in enumerate(self.shape.loaded.entry.logs):
            is_own = log.says == "initiating"
            number = self.number if is_own else (self.number - 1) % self.generator.count
            causes = [one for one in self.generator.signatures(number) if one.role in _CAUSES]
            cause = causes[i % len(causes)]
            line = self._write_log(log, cause)
            rows += self._told(log, line if is_own else None, None if is_own else self.generator.slug(number))
            self._tried(log, self.generator.slug(number))
        return "\n".join(rows) + "\n"

    def _told(self, log: Log, line: int | None, other: str | None) -> Iterator[str]:
        yield f"  - file: {log.file}"
        yield f"    made: {log.made}"
        yield f"    from: {_quoted(self._anew(log.origin))}"
        yield f"    says: {'other' if other else 'initiating'}"
        if line:
            yield f"    line: {line}"
            yield "    ranks: [1]"
        if other:
            yield f"    entry: {other}"
        if log.part:
            yield f"    part: {log.part}"
        if log.note:
            yield f"    note: {_quoted(self._anew(log.note))}"

    def _anew(self, value: str) -> str:
        pieces = _prose(value, self.shape.slugs)
        return "".join(piece if isinstance(piece, str) else piece(self) for piece in pieces)

    def _write_log(self, log: Log, cause: Signature) -> int:
        """A log as long as the original's in which rank 1 fails with the message; the message's line."""
        original = self.shape.loaded.files.get(log.file, b"")
        failure = ["Traceback (most recent call last):", '  File "/data/run/train.py", line 88, in <module>']
        failure += [f"    {line}" for need in cause.needs for line in _printed(need).split("\n")]
        message = _printed(cause.text).split("\n")
        before = self.draw.choices(
            _quiet_lines(), k=max(1, original.count(b"\n") - len(failure) - len(message))
        )
        lines = [*before, *(f"[rank1]: {line}" for line in [*failure, *message])]
        self.log_files[log.file] = ("\n".join(lines) + "\n").encode()
        return len(lines) - len(message) + 1

    def _tried(self, log: Log, named: str) -> None:
        says = "initiating" if named == self.slug else "other"
        row = {"log": f"{self.slug}/{log.file}", "says": says, "of": named, "named": named}
        self.trials.append({**row, "verdict": "established", "standing": [named]})


@cache
def _quiet_lines() -> tuple[str, ...]:
    """Lines of a run that goes well."""
    draw = Random(0)

    def line() -> str:
        step, rank = draw.randrange(10**5), draw.randrange(8)
        clock = f"2026-11-30 {draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02},123"
        return draw.choice(
            (
                f"[rank{rank}]: {clock} INFO train: step {step}/100000 loss {draw.random() * 4:.4f} tokens/s 15123",
                f"[{clock}] [INFO] [logging.py:107:log_dist] [Rank 0] step={step}, skipped=0, lr=[1e-4]",
                f"node-a:400{rank}:500{rank} [{rank}] NCCL INFO Channel {step % 32:02}/0 : {rank}[{rank}] via P2P/IPC",
            )
        )

    return tuple(line() for _ in range(2000))


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]), int(sys.argv[3]) if sys.argv[3:] else SEED)
