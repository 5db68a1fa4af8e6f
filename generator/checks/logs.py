"""A log gives the diagnosis that its entry promises.

``check`` asks this; a build doesn't, since it takes longer than all other checks together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..catalogue import Catalogue
from ..corpora import breach, trials
from ..finding import Explanation, Finding, shown
from .report import content_folder, finding

CODES: Mapping[str, Explanation] = {
    "log-promise": Explanation(
        "Each log says what `diagnose` must answer for it: that this entry started it, that this entry is only "
        "somebody's report in it, or something else. The signatures of all entries are asked, so a new signature "
        "can break another entry's promise. `diagnose FILE` shows the whole answer."
    ),
}


def promises(catalogue: Catalogue, slugs: Collection[str] | None = None) -> Iterator[Finding]:
    """What the logs of the entries (of ``slugs``, where given) promise and the diagnosis doesn't give."""
    root = content_folder(catalogue)
    for trial in trials(catalogue, slugs):
        if trial.loaded is None:
            if (problem := breach(trial)) is not None:
                yield Finding(f"{root}/healthy/{trial.file}", 1, 1, "log-promise", "error", problem)
        elif trial.log is not None:
            at = trial.loaded.entry.logs.index(trial.log)
            if (problem := breach(trial)) is not None:
                message, hint = f"{shown(trial.log.file)}: {problem}", ""
                if not trial.loaded.files[trial.log.file].strip():
                    message = f"{shown(trial.log.file)} is empty"
                    hint = "put the lines around the error into it, names and hosts taken out"
                elif trial.named is None:
                    hint = "compare its lines with the signatures' texts"
                yield finding(trial.loaded.positions, ("logs", at, "says"), "log-promise", message, hint)
