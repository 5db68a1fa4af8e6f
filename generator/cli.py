"""The commands: parse the arguments, call a stage, print.

Exit codes: 0 done, 1 the content has findings that forbid it, 2 wrong use or input that can't be read,
told in one line on standard error.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import __version__
from .finding import Finding, Format, format_findings, printable, shown
from .hidden import to_json

if TYPE_CHECKING:
    from .catalogue import Catalogue
    from .content import Content, LoadedEntry
    from .from_log import Beginning
    from .redact import Redaction

ROOT = Path(__file__).parents[1]
MAX_TEXT_BYTES = 1_000_000
"""Of standard input, for ``find``: a pasted text, not a log."""

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The open encyclopedia of distributed-training failures. Without a command: build.",
)

ContentOption = Annotated[
    Path | None, typer.Option("--content", metavar="DIR", help="Work on this content folder.")
]
DiagnosisFormat = Literal["text", "json", "markdown"]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what was asked for.")]
_GLOBAL_OPTIONS = {"--content": 1, "--quiet": 0, "-q": 0}
"""Options of every command, which may also stand before it, and how many values each takes."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint that names the likeliest of ``names``, or nothing; what finds it is loaded when it is needed."""
    from . import validate

    return validate.did_you_mean(name, names)


class Problem(Exception):
    """Wrong use, or input that can't be read: the message is one line that says what and where."""


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit with its code; no traceback for whatever a user can do."""
    code = run(sys.argv[1:] if arguments is None else arguments)
    # What is held goes with the process: without this it is all looked through for what could be freed.
    gc.freeze()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    # Every error of Typer's parser is of this class, which it doesn't export.
    usage_error: type[Exception] = typer.BadParameter.__mro__[2]
    try:
        code = app(with_command(arguments), prog_name="firstfault", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # Whoever read has gone; keep the interpreter from writing the rest at its end.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except (Problem, usage_error) as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    line = " ".join(message.replace("Value error, ", "").split())
    typer.echo(f"firstfault: {printable(line)}", err=True)
    return 2


def with_command(arguments: list[str]) -> list[str]:
    """The arguments with the command in front: ``build`` where none is named."""
    before = 0
    while before < len(arguments) and arguments[before].partition("=")[0] in _GLOBAL_OPTIONS:
        name, has_value, _ = arguments[before].partition("=")
        before += 1 if has_value else 1 + _GLOBAL_OPTIONS[name]
    rest = arguments[before:]
    if not rest or (rest[0].startswith("-") and rest[0] not in ("--help", "--version")):
        return ["build", *arguments]
    if rest[0].startswith("-"):
        return rest
    known = [command.name for command in app.registered_commands if command.name]
    if rest[0] not in known:
        hint = did_you_mean(rest[0], known) or "one of: " + ", ".join(known)
        raise Problem(f"no command is named '{rest[0]}' ({hint})")
    return [rest[0], *arguments[:before], *rest[1:]]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"firstfault {__version__}")
        raise typer.Exit


@app.callback()
def _before(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that are no command's own."""


@app.command(name="build")
def build_command(
    content: ContentOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where the site goes.")] = None,
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="The address that the site will have.")
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Let a warning forbid it, too.")] = False,
    repository: Annotated[
        str, typer.Option("--repository", metavar="URL", help="Where the content is edited, for links to it.")
    ] = "",
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, metavar="N", help="Use so many processes.")
    ] = None,
    quiet: QuietOption = False,
) -> int:
    """Build the site: content/ to site/."""
    from .build import Options, build
    from .write import SiteError

    _require_checkout()
    folder = content_folder(content)
    target = out or folder.resolve().parent / "site"
    options = Options(
        root=ROOT,
        content=folder,
        out=target,
        base_url=_checked_url(base_url),
        strict=strict,
        repository=_checked_url(repository, "--repository"),
        jobs=jobs,
    )
    try:
        result = build(options, _progress(quiet))
    except SiteError as error:
        raise Problem(str(error)) from error
    typer.echo(format_findings(result.findings), err=True, nl=False)
    if not result.ok:
        typer.echo(f"{_summary(result.findings)}; nothing was written", err=True)
        return 1
    if not quiet:
        typer.echo(f"{result.entries} entries, {result.files} files: {target}")
    return 0


@app.command(name="serve")
def serve_command(
    content: ContentOption = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 is any free port.")
    ] = 8000,
    quiet: QuietOption = False,
) -> int:
    """Serve the site on this machine, and show each change as it is made."""
    _require_checkout()
    try:
        from .serve import Options, serve
    except ImportError as error:
        raise Problem(f"serve needs {error.name}: pip install 'firstfault[site]'") from error

    def say(line: str) -> None:
        if not quiet or line.startswith("http://"):
            typer.echo(line)
            sys.stdout.flush()

    options = Options(content=content_folder(content), port=port)
    try:
        serve(options, say)
    except OSError as error:
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"can't be used: {error.strerror}"
        raise Problem(
            f"port {port} of 127.0.0.1 {reason}; name another with --port (make serve PORT=8001), 0 is any free one"
        ) from error
    return 0


@app.command(name="check")
def check_command(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[SLUG or PATH]...", help="Tell only what is found here.")
    ] = None,
    content: ContentOption = None,
    fmt: Annotated[Format, typer.Option("--format", help="How to print findings.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Let a warning fail it, too.")] = False,
    explain: Annotated[str, typer.Option("--explain", metavar="CODE", help="Say what a code means.")] = "",
    quiet: QuietOption = False,
) -> int:
    """Validate the content without writing."""
    if explain:
        typer.echo(explain_code(explain))
        return 0
    from .checks import examine, examine_logs

    folder = content_folder(content)
    prefixes = [_target_prefix(folder, target) for target in targets or []]

    def asked(entry: LoadedEntry) -> bool:
        return not prefixes or _is_under(entry.positions.path, prefixes)

    loaded, findings = examine(folder, asked)
    slugs = {entry.slug for entry in loaded.entries if asked(entry)}
    findings = sorted([*findings, *examine_logs(loaded, slugs if prefixes else None)])
    wanted = [finding for finding in findings if not prefixes or _is_under(finding.path, prefixes)]
    typer.echo(format_findings(wanted, fmt), nl=False)
    if not quiet:
        total = len(loaded.entries) + len(loaded.broken)
        root = printable(folder.resolve().name)
        broken = [slug for slug in loaded.broken if _is_under(f"{root}/failures/{slug}/entry.yaml", prefixes)]
        read = f"{len(slugs) + len(broken)} of {total}" if prefixes else str(total)
        typer.echo(f"{read} entries: {_summary(wanted)}", err=True)
    return 1 if any(strict or finding.severity == "error" for finding in wanted) else 0


@app.command(name="new")
def new_command(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="The entry's name: lower case, digits, hyphens.")
    ],
    title: Annotated[str, typer.Option(help="How people call the failure.")] = "",
    system: Annotated[str, typer.Option(help="The system that fails, by its id in the taxonomy.")] = "",
    message: Annotated[str, typer.Option(help="The message, as it was printed.")] = "",
    from_log: Annotated[
        str, typer.Option("--from-log", metavar="FILE", help="Take message, ranks and log from this log.")
    ] = "",
    complete: Annotated[
        bool,
        typer.Option("--complete", help="With all parts; an entry that is there grows by those it lacks."),
    ] = False,
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Start an entry: a commented folder in content/failures/."""
    from .load import load
    from .scaffold import Answers, grow, scaffold

    folder = content_folder(content)
    loaded, _ = load(folder)
    path = folder / "failures" / slug / "entry.yaml"
    there = {*loaded.broken, *(entry.slug for entry in loaded.entries)}
    if complete and slug in there and path.is_file():
        path.write_text(grow(path.read_text(encoding="utf-8")), encoding="utf-8")
        return _say_what_lacks(folder, slug, path, quiet)
    _require_free_slug(slug, loaded)
    begun = _beginning(from_log, content, quiet) if from_log else None
    title, message = (_without_names(text, quiet) for text in (title, message))
    if begun is not None:
        message = message or begun.message
        title = title or begun.message
    systems = [item.id for item in loaded.systems]
    if sys.stdin is not None and sys.stdin.isatty() and not quiet:
        title = title or _asked("How do people call the failure?")
        system = system or _asked_for_one(systems, "Which system prints it (deepspeed, pytorch, ...)?")
        message = message or _without_names(_asked("The message, one line"), quiet)
    if system and system not in systems:
        raise Problem(_unknown_system(system, systems))
    families, phases = [item.id for item in loaded.families], [item.id for item in loaded.phases]
    answers = Answers(title, system, message)
    if begun is not None:
        answers = replace(
            answers, log=begun.log, line=begun.line, ranks=begun.ranks, symmetric=begun.symmetric
        )
    path = scaffold(folder / "failures", slug, answers, families, phases)
    if complete:
        path.write_text(grow(path.read_text(encoding="utf-8")), encoding="utf-8")
    return _say_what_lacks(folder, slug, path, quiet)


def _say_what_lacks(folder: Path, slug: str, path: Path, quiet: bool) -> int:
    """Name the entry's file, each key that has no value yet, and what to do next."""
    from .load import load

    typer.echo(str(path))
    if not quiet:
        missing = [
            finding for finding in load(folder)[1] if _is_under(finding.path, [_target_prefix(folder, slug)])
        ]
        log = path.with_name("run.log")
        empty = (
            f"Put the lines around the error into {log}, names and hosts taken out.\n"
            if log.is_file() and not log.stat().st_size
            else ""
        )
        then = f"Then: python build.py check {slug}, and python build.py serve to see /failures/{slug}/.\n"
        typer.echo("What only you can say:\n" + format_findings(missing) + empty + then, err=True, nl=False)
    return 0


def _beginning(log: str, content: Path | None, quiet: bool) -> Beginning:
    """What a log tells of a new entry; says what was replaced in it. Raises Problem."""
    from .from_log import beginning_of

    try:
        begun = beginning_of(log, _bundle(content))
    except ValueError as error:
        raise Problem(str(error)) from error
    if begun.explained_by is not None:
        typer.echo(f"{begun.explained_by} has this message already; is its cause yours?", err=True)
    if not quiet:
        for redaction, count in begun.redactions:
            _say_replaced(redaction, count)
        typer.echo("Look the log through for what else tells of you, before you send it.", err=True)
    return begun


def _without_names(text: str, quiet: bool) -> str:
    """The text as an entry may hold it: without keys, and names of people and machines."""
    from .redact import redacted, redactions_of

    redactions = redactions_of([text])
    if not quiet:
        for redaction in redactions:
            _say_replaced(redaction, text.count(redaction.found))
    return redacted(text, redactions)


def _say_replaced(redaction: Redaction, count: int) -> None:
    times = "once" if count == 1 else f"{count} times"
    found = redaction.found[:3] + "…" if redaction.kind == "token" else redaction.found
    typer.echo(f"replaced {redaction.kind} {shown(found)} by {redaction.shown}, {times}", err=True)


def _require_free_slug(slug: str, content: Content) -> None:
    from .load import is_slug

    if not is_slug(slug):
        raise Problem(f"'{slug}' is no slug: lower-case letters, digits and single hyphens, at most 80")
    names = {*content.broken, *(loaded.slug for loaded in content.entries)}
    if slug in names or any(slug in loaded.entry.aliases for loaded in content.entries):
        raise Problem(f"'{slug}' is the name of an entry already")


def _asked(question: str) -> str:
    """What the person answers; empty where they only press Enter."""
    typer.echo(f"{question} ", err=True, nl=False)
    return sys.stdin.readline().strip()


def _asked_for_one(names: Iterable[str], question: str) -> str:
    """One of the names, or empty; asked again where the answer is another."""
    while (answer := _asked(question)) and answer not in names:
        typer.echo(_unknown_system(answer, names), err=True)
    return answer


def _unknown_system(name: str, names: Iterable[str]) -> str:
    hint = did_you_mean(name, names) or "see content/taxonomy/systems.yaml"
    return f"no system is named {shown(name)} ({hint})"


@app.command(name="find")
def find_command(
    text: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help="An error text; without it, or with -, standard input."),
    ] = None,
    number: Annotated[int, typer.Option("-n", min=1, help="At most so many entries.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Rank the entries for an error text."""
    from .find import Finder

    if text is None or text == "-":
        _require_standard_input()
        text = sys.stdin.buffer.read(MAX_TEXT_BYTES).decode("utf-8", "replace")
    found = Finder(_find_index(content)).find(text, number)
    if as_json:
        typer.echo(to_json([one.to_json() for one in found]))
        return 0
    for one in found:
        typer.echo(f"{one.score:4}  {one.entry}\n      {printable(one.title)}")
    if not quiet and not found:
        typer.echo("no entry is known for this text", err=True)
    elif not quiet and all(one.how != "signature" for one in found):
        typer.echo("no known message stands in this text; these entries share words with it", err=True)
    return 0


def _require_standard_input() -> None:
    if sys.stdin is None:
        raise Problem("standard input is closed; name what to read as an argument")


@app.command(name="diagnose")
def diagnose_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Logs: files, folders, .gz, .zst; - is standard input."),
    ] = None,
    fmt: Annotated[DiagnosisFormat, typer.Option("--format", help="How to print the verdict.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Read logs and say who started it: the line, the rank, what to do next."""
    from .diagnose.command import diagnose

    if not files or "-" in files:
        _require_standard_input()
    printed, code = diagnose(
        files or [], _bundle(content), "json" if as_json else fmt, lambda text: typer.echo(text, err=True)
    )
    typer.echo(printed, nl=False)
    return code


@app.command(name="explain")
def explain_command(
    slug: Annotated[str, typer.Argument(metavar="SLUG")],
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Show an entry in the terminal."""
    from .catalogue import Catalogue
    from .explain import explain
    from .load import load

    loaded, _ = load(content_folder(content))
    by_name = {alias: entry for entry in loaded.entries for alias in entry.entry.aliases}
    by_name |= {entry.slug: entry for entry in loaded.entries}
    if slug in loaded.broken:
        raise Problem(f"the entry '{slug}' has errors; see: check {slug}")
    if slug not in by_name:
        raise Problem(f"no entry is named '{slug}' ({did_you_mean(slug, by_name) or 'see content/failures'})")
    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    typer.echo(explain(by_name[slug], Catalogue(loaded), bold), nl=False)
    return 0


@app.command(name="repro")
def repro_command(
    slugs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SLUG]...", help="Only these entries; else all with a repro.py."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="DIR", help="Where the environments are kept.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Seconds that a part may take.")] = 300,
    captured: Annotated[
        bool, typer.Option("--capture", help="Write what holds into the log that the entry names.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Run reproductions in environments of their own, and judge what they print."""
    try:
        from .repro import report, reproduce
        from .repro.environment import default_cache
    except ImportError as error:
        raise Problem(f"repro runs on Linux and macOS ({error.name} is missing)") from error
    from .diagnose.engine import Engine
    from .load import load

    def say(line: str) -> None:
        if not quiet:
            typer.echo(printable(line), err=True)

    def show(line: str) -> None:
        if not as_json:
            typer.echo(printable(line))
            sys.stdout.flush()

    folder = content_folder(content)
    entries = _with_repro(load(folder)[0], slugs or [], reproduce.FILE)
    width = max((len(loaded.slug) for loaded in entries), default=0)
    engine = Engine(_bundle(folder))
    outcomes: list[reproduce.Outcome] = []
    where = cache or default_cache()
    show(report.heading(width))
    for loaded in entries:
        for outcome in reproduce.reproduce(loaded, engine, where, limit, say):
            outcomes.append(outcome)
            show(report.row(outcome, width))
            if outcome.part and not outcome.ok:
                say(f"  its output: {reproduce.keep(outcome, where)}")
            if captured and (changed := reproduce.capture(outcome, loaded, folder / "failures")):
                say(f"{loaded.slug}: {changed}")
    typer.echo(to_json(report.as_json(outcomes)) if as_json else report.counts(outcomes))
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def _with_repro(content: Content, slugs: list[str], file: str) -> list[LoadedEntry]:
    """The entries of these names, or all, that have the file. Raises Problem for a name that has none."""
    having = {loaded.slug: loaded for loaded in content.entries if file in loaded.files}
    _require_entries(content, slugs, having, f"entry with a {file}")
    return [having[slug] for slug in dict.fromkeys(slugs or having)]


@app.command(name="verify")
def verify_command(
    slugs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SLUG]...", help="Only these entries; without, all of them."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="DIR", help="Where fetched sources are kept.")
    ] = None,
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Look for every message in the released packages (network), and record where it stands."""
    from .evidence import command
    from .evidence.packages import PackageError, default_cache
    from .load import load

    folder = content_folder(content)
    loaded, _ = load(folder)
    _require_entries(loaded, slugs or [], [entry.slug for entry in loaded.entries])
    try:
        report = command.verify(folder, loaded, slugs or [], cache or default_cache(), _progress(quiet))
    except PackageError as error:
        raise Problem(str(error)) from error
    finally:
        _progress(quiet)("")
    for remark in report.remarks:
        typer.echo(printable(str(remark)))
    if not quiet:
        typer.echo(report.summary, err=True)
    return 1 if report.fails else 0


def _require_entries(
    content: Content, slugs: Iterable[str], known: Collection[str], what: str = "entry"
) -> None:
    for slug in slugs:
        if slug in content.broken:
            raise Problem(f"the entry '{slug}' has errors; see: check {slug}")
        if slug not in known:
            hint = did_you_mean(slug, known) or "see content/failures"
            raise Problem(f"no {what} is named '{slug}' ({hint})")


@app.command(name="coverage")
def coverage_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    missing: Annotated[
        str, typer.Option("--missing", metavar="AREA", help="List the messages of an area that no entry has.")
    ] = "",
    content: ContentOption = None,
    quiet: QuietOption = False,
) -> int:
    """Count how many of the messages that the newest DeepSpeed can print some entry explains."""
    from .catalogue import Catalogue
    from .evidence.coverage import coverage
    from .load import load

    try:
        counted = coverage(Catalogue(load(content_folder(content))[0]))
    except ValueError as error:
        raise Problem(str(error)) from error
    if counted is None:
        raise Problem("no messages are recorded here; record them with: verify")
    if missing and missing not in counted.areas:
        hint = did_you_mean(missing, counted.areas) or "one of: " + ", ".join(counted.areas)
        raise Problem(f"no area is named '{missing}' ({hint})")
    if as_json:
        typer.echo(to_json(counted.to_json(missing)))
    else:
        typer.echo(counted.to_text(missing), nl=False)
    return 0


def content_folder(given: Path | None) -> Path:
    """The one given, this checkout's, ./content, or what an installation carries. Raises Problem."""
    if given is not None:
        if not given.is_dir():
            raise Problem(f"--content {given}: {'is not a folder' if given.exists() else 'no such folder'}")
        return given
    for folder in (ROOT / "content", Path("content"), Path(__file__).parent / "content"):
        if (folder / "taxonomy").is_dir():
            return folder
    raise Problem("no content folder here; name one with --content DIR")


def _bundle(content: Path | None) -> Mapping[str, Any]:
    """The signature bundle: of the content folder, or the one that an installation carries. Raises Problem."""

    def make(catalogue: Catalogue) -> Mapping[str, Any]:
        from .bundle import bundle

        return bundle(catalogue)

    return _carried_or_kept("signatures.json", content, make)


def _find_index(content: Path | None) -> Mapping[str, Any]:
    """The same of the index of ``find``."""

    def make(catalogue: Catalogue) -> Mapping[str, Any]:
        from .find_index import find_index

        return find_index(catalogue)

    return _carried_or_kept("search.json", content, make)


def _carried_or_kept(
    name: str, content: Path | None, make: Callable[[Catalogue], Mapping[str, Any]]
) -> Mapping[str, Any]:
    carried = resources.files(__package__) / name
    if content is None and carried.is_file():
        read: Mapping[str, Any] = json.loads(carried.read_bytes())
        return read
    from .kept import kept

    folder = content_folder(content)
    return kept(folder, lambda: _made(make, folder), Path(name).stem)


def _made(make: Callable[[Catalogue], Mapping[str, Any]], folder: Path) -> tuple[Mapping[str, Any], bool]:
    """What is made of a content folder, and whether every entry is in it. Raises Problem."""
    from .catalogue import Catalogue
    from .load import load
    from .signature import TemplateError

    loaded, _ = load(folder)
    if loaded.broken:
        typer.echo(f"without the entries that have errors: {', '.join(sorted(loaded.broken))}", err=True)
    try:
        return make(Catalogue(loaded)), not loaded.broken
    except TemplateError as error:
        raise Problem(f"the content has errors, see: check ({error})") from error


def _require_checkout() -> None:
    """Raise Problem where the templates aren't: in an installation, which carries the engine alone."""
    if not (ROOT / "templates").is_dir():
        raise Problem("a site is built in a checkout, by: python build.py")


def explain_code(code: str) -> str:
    """What a code means, with an example. Raises Problem."""
    from .checks import CODES

    if code not in CODES:
        raise Problem(f"no code is named '{code}' ({did_you_mean(code, CODES) or 'see: check'})")
    said = CODES[code]
    parts = [f"{code}: {said.text}"]
    parts += [
        f"\n{name}:\n{_indented(text)}" for name, text in (("Wrong", said.bad), ("Right", said.good)) if text
    ]
    return "\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _progress(quiet: bool) -> Callable[[str], None]:
    """Stages on a terminal, on one line that the next replaces."""
    if quiet or not sys.stderr.isatty():
        return lambda stage: None
    return lambda stage: typer.echo(f"\r\x1b[K{stage}", err=True, nl=False)


def _summary(findings: Iterable[Finding]) -> str:
    severities = [finding.severity for finding in findings]
    counts = [(severities.count("error"), "error"), (severities.count("warning"), "warning")]
    told = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in counts if count]
    return ", ".join(told) or "no findings"


def _is_under(path: str, prefixes: Iterable[str]) -> bool:
    return any(path == prefix or path.startswith(prefix + "/") for prefix in prefixes)


def _target_prefix(folder: Path, target: str) -> str:
    """The start of the paths of findings that concern a slug or a path. Raises Problem."""
    root = folder.resolve()
    if not target:
        raise Problem("an entry without a name; name a slug or a path")
    if "/" not in target and target not in (".", "..") and os.path.lexists(folder / "failures" / target):
        return f"{printable(root.name)}/failures/{printable(target)}"
    path = Path(target).resolve()
    if path.exists() and path.is_relative_to(root):
        return "/".join(map(printable, (root.name, *path.relative_to(root).parts)))
    if path.exists():
        raise Problem(f"{target}: is not in the content folder {folder}")
    names = [path.name for path in (folder / "failures").iterdir()] if (folder / "failures").is_dir() else []
    raise Problem(
        f"no entry or file is named '{target}' ({did_you_mean(target, names) or 'see content/failures'})"
    )


def _checked_url(url: str, option: str = "--base-url") -> str:
    if url and not _BASE_URL.fullmatch(url):
        raise Problem(f"{option} {url}: must be http:// or https://, a host, and a path in ASCII or none")
    return url


_BASE_URL = re.compile(
    r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~%!$&'()*+,;=:@/-]*)?"
)
