"""A `ClusterSpec` as TOML: what is read back is equal to what was written."""

from __future__ import annotations

import os
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

import tomli_w

from clusterscope.errors import SpecError
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.wording import escaped, in_toml, shown_name


def write(spec: ClusterSpec) -> str:
    """TOML text of a spec, without keys that have their default."""
    return escaped(tomli_w.dumps(to_tables(spec)), in_toml)


def to_tables(spec: ClusterSpec) -> dict[str, Any]:
    """The spec as TOML tables, without keys that have their default."""
    tables = spec.model_dump(exclude_none=True, exclude_defaults=True)
    for job, table in zip(spec.jobs, tables.get("jobs", ()), strict=False):
        if job.plan is not None and job.plan.name is not None:
            # What a ready plan would fill in must be said, also where it is a default.
            table["plan"] = job.plan.model_dump(exclude_none=True, exclude_unset=True)
    return tables


def save(spec: ClusterSpec, path: str | PathLike[str]) -> None:
    """Write a spec to a file, whole or not at all.

    Raises:
        SpecError: the file cannot be written.
    """
    target = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(write(spec))
            temporary.chmod(_mode(target))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(shown_name(path), "cannot be written", reason.lower()) from None


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or of a new file."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
