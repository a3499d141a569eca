"""Threads for which nobody waits: a person who quits during a long step wants the shell now."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """Runs calls in daemon threads, as many as are needed; an event loop's default executor.

    A pool's own threads are joined when the interpreter ends, however long they take. Threads that
    are idle are used again, since each new one would take memory of its own from the allocator.
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = threading.Semaphore(0)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a call; gives its result to come."""
        future: Future[T] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            # Whoever waited may be gone, and its event loop closed.
            with contextlib.suppress(RuntimeError):
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        self._calls.put(call)
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._work, name="clusterscope", daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            self._calls.get()()
            self._idle.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Wait for nothing."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
