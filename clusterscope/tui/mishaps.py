"""Whatever goes wrong in a thread, as one sentence: a traceback over the screen helps nobody."""

from __future__ import annotations

from collections.abc import Callable

from clusterscope.errors import ClusterscopeError


def sentence(error: Exception) -> str:
    """What went wrong, in a sentence; mistakes of the user's have one already."""
    if isinstance(error, ClusterscopeError | OSError):
        return str(error)
    return f"that did not work: {type(error).__name__}: {error}"


def guarded(work: Callable[[], None], told: Callable[[str], object]) -> Callable[[], None]:
    """The same work, which hands a sentence on instead of raising."""

    def run() -> None:
        try:
            work()
        except AssertionError:
            raise  # an invariant of ours: nothing that follows could be trusted
        except Exception as error:  # or a screen would wait for good, and nobody know why
            told(sentence(error))

    return run
