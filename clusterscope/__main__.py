"""The program: `clusterscope`, or `python -m clusterscope`.

An interrupt ends it with 130 at any moment: while its modules are still being read, and where
Python would kill itself by the signal because the interrupt came inside an `exec`. A thread that
still computes is left alone: Python would unwind it through compiled code, which aborts.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

_INTERRUPTED = 130


def run() -> None:
    """Run the command line and exit."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _too_early)
    from clusterscope.cli import main

    try:
        main()
    except SystemExit as stop:
        if stop.code != _INTERRUPTED and threading.active_count() == 1:
            # Python gives signals back on its way out: one that comes then would end it by itself.
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            raise
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(stop.code if isinstance(stop.code, int) else 0)


def _too_early(signum: int, frame: object) -> None:  # noqa: ARG001 - the handler's signature
    os.write(2, b"clusterscope: interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    run()
