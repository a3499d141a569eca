"""Files and directories that appear whole or not at all.

Everything is written beside its place under another name and renamed at the end, so that a reader
never sees half of it, and an interrupt or a full disk leaves what was there before.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clusterscope.errors import SpecError
from clusterscope.export.plain import spelled_out


def write_text(path: Path, text: str) -> bytes:
    """Write text as UTF-8 with LF line ends; gives the bytes written."""
    data = text.encode("utf-8", "backslashreplace")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return data


def write_whole(path: Path, text: str) -> None:
    """Write one file, whole or not at all; a file that is there is replaced.

    Raises:
        SpecError: it cannot be written.
    """
    if path.is_dir():
        raise SpecError(_name(path), "is a directory", "name a file")
    try:
        with _parents(path):
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path))
            os.close(descriptor)
            temporary = Path(name)
            try:
                write_text(temporary, text)
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except (OSError, ValueError) as error:
        raise SpecError(_name(path), "cannot be written", reason(error)) from None


@contextmanager
def whole_directory(target: Path) -> Iterator[Path]:
    """An empty directory to fill, which takes the place of `target` when the block ends well.

    Args:
        target: where it goes; parents are made. A directory that is there is replaced: whether
            that is right has been asked before.

    Raises:
        SpecError: the directory cannot be written.
    """
    try:
        with _parents(target):
            temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target)))
            try:
                yield temporary
                temporary.chmod(0o777 & ~_umask())
                _swap(temporary, target)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
    except OSError as error:
        raise SpecError(_name(target), "cannot be written", reason(error)) from None


def reason(error: OSError | ValueError | RuntimeError) -> str:
    """Why the system refused, in lower case."""
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]


def _swap(new: Path, target: Path) -> None:
    """Put `new` where `target` is or was; what was there is gone only when `new` is in place."""
    if not target.exists():
        new.rename(target)
        return
    aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target) + "old."))
    try:
        target.rename(aside)
        new.rename(target)
    except BaseException:
        if not target.exists():
            aside.rename(target)
        else:
            aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Parents of `target` for the time of the block; kept when it ends well."""
    missing = [p for p in target.parents if not p.exists()]
    existing = target.parents[len(missing)]
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise


def _prefix(path: Path) -> str:
    """How a temporary sibling is called: hidden, and short however long the name is."""
    return f".{path.name[:40]}."


def _name(path: Path) -> str:
    return spelled_out(str(path))


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
