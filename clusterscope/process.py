"""The process around a command: signals, pipes and exit codes.

0 fine, 1 findings, 2 bad input, 3 assertion failed, 130 interrupted; a mistake is one sentence.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import click

from clusterscope.errors import ClusterscopeError

_LONGEST = 600  # characters of an error message


class Wish:
    """Whether the user wants to stop.

    Python drops an exception that a signal handler raises inside a destructor, so the wish is kept
    and long work asks for it.
    """

    stop = False


def heed(label: str, share: float) -> None:  # noqa: ARG001 - as progress is told
    """Stop if the user wants to.

    Raises:
        KeyboardInterrupt: the user does.
    """
    if Wish.stop:
        raise KeyboardInterrupt


def guard(command: Callable[[], object]) -> None:
    """Run a command and exit; whatever goes wrong is told in one sentence."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupted)
    sys.unraisablehook = _dropped
    Wish.stop = False
    out = sys.stdout
    try:
        status = command()
        sys.stdout.flush()
    except ClusterscopeError as error:
        _fail(str(error), error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except MemoryError:
        _fail("this needs more memory than there is; use a smaller cluster", 2)
    except SystemExit as stop:
        # click puts another stdout there when the reader has gone; `| head` is no failure.
        sys.exit(stop.code if sys.stdout is out else 0)
    except BrokenPipeError:
        sys.stdout = _nowhere()
        sys.exit(0)
    except OSError as error:
        sys.stdout = _nowhere()
        _fail(f"cannot write: {error.strerror}", 2)
    sys.exit(status if isinstance(status, int) else 0)


def _interrupted(signum: int, frame: object) -> None:  # noqa: ARG001 - the handler's signature
    Wish.stop = True
    raise KeyboardInterrupt


def _dropped(unraisable: sys.UnraisableHookArgs) -> None:
    """Keep quiet about an interrupt that was dropped: `heed` will find it."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _fail(message: str, code: int) -> None:
    """Say what is wrong and exit."""
    printable = "".join(c if c.isprintable() else "�" for c in message)
    if len(printable) > _LONGEST:
        printable = printable[: _LONGEST // 2] + " … " + printable[-_LONGEST // 2 :]
    with contextlib.suppress(OSError):
        click.echo(f"clusterscope: {printable}", err=True)
    sys.exit(code)
