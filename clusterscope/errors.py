"""What a user can get wrong, as exceptions.

    ClusterscopeError            exit code 2 unless said otherwise
    ├── SpecError                a spec, preset, event file or flag: where, problem, allowed
    ├── UnknownNameError         a thing that is not there, with the nearest one that is
    └── AssertionFailedError     an --assert that did not hold (exit code 3)

Every message is one sentence a person can act on.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ClusterscopeError(Exception):
    """Base of every mistake that is the user's to mend."""

    exit_code = 2


class SpecError(ClusterscopeError):
    """A file, key or flag that cannot be used.

    Args:
        where: file, and key or line in it; or the flag.
        problem: the value and what is wrong with it, in words.
        hint: what is allowed or nearest, if anything helps.
    """

    def __init__(self, where: str, problem: str, hint: str = "") -> None:
        self.where = where
        self.problem = problem
        self.hint = hint
        super().__init__(f"{where}: {problem}" + (f"; {hint}" if hint else ""))


class UnknownNameError(ClusterscopeError):
    """A name that nothing answers to.

    Args:
        what: kind of thing looked for ("preset", "switch").
        name: the name as typed.
        known: the names that exist, or a sample of them.
        hint: used when no known name is near.
    """

    def __init__(self, what: str, name: str, known: Iterable[str] = (), hint: str = "") -> None:
        self.name, self.hint = name, hint
        self.near = nearest(name, known)
        tail = f"; did you mean {self.near!r}?" if self.near else (f"; {hint}" if hint else "")
        super().__init__(f"there is no {what} {name!r}{tail}")


class AssertionFailedError(ClusterscopeError):
    """An `--assert` expression that does not hold."""

    exit_code = 3


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Known name closest to `name`, or None when none is near."""
    pool = list(known)
    folded = {k.casefold(): k for k in pool}
    hits = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return folded[hits[0]] if hits else None
