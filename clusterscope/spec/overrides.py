"""`--set table.key=value`: change a spec before it is validated."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from clusterscope.errors import SpecError
from clusterscope.spec.model import DEFAULT_JOB
from clusterscope.spec.validate import unknown_key
from clusterscope.spec.wording import dotted, fields_at, shown

_WHERE = "--set"
_QUOTING = "\"'[{"
_TRANSPORT = ("transport",)
_NAMED = ("plan", "model")  # tables of a job for which a name may stand
# What a job keeps when it is told to run a ready plan: where it is, and what it is called.
_KEPT = frozenset({"name", "first_gpu", "placement", "stride", "hierarchical"})
_SET: dict[str, Any] = {"estimate": True, "why": "set on the command line"}


def apply_overrides(data: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """Tables with every `table.key=value` applied in turn.

    A value is TOML; a bare word is text. `jobs.0.message_bytes` is a key of the first job, and
    the index after the last one starts a new job. `transport=name` is short for a transport
    with its catalogue values, and `jobs.0.plan=name` makes a job that of a ready plan. A changed
    number loses its source.

    Raises:
        SpecError: not of that form, no such key, or a value that is not TOML.
    """
    changed = copy.deepcopy(dict(data))
    for setting in settings:
        key, value = split(setting)
        if key == _TRANSPORT and isinstance(value, str):
            key, value = _choose_transport(changed, value)
        if key[0] == "jobs" and len(key) > 1 and "jobs" not in changed:
            changed["jobs"] = [DEFAULT_JOB.model_dump(exclude_defaults=True)]
        if len(key) > 2 and key[0] == "jobs" and key[2] in _NAMED:
            _open_named(changed, key)
            if key[2:] == ("plan",) and isinstance(value, str):
                _choose_plan(changed, key[1], value)
        _assign(changed, key, value)
        path = dotted(key)
        sources = changed.setdefault("sources", {})
        if isinstance(sources, dict):
            sources[path] = dict(_SET)
    return changed


def _choose_transport(data: dict[str, Any], name: str) -> tuple[tuple[str, ...], Any]:
    """`transport=name`: a different transport does not keep what the old one was set to.

    It keeps the losses, which are those of the cables.
    """
    table = data.get("transport")
    if isinstance(table, dict) and table.get("name") != name:
        data["transport"] = {k: v for k, v in table.items() if k == "loss_rate"}
        sources = data.get("sources")
        if isinstance(sources, dict):
            data["sources"] = {k: v for k, v in sources.items() if not k.startswith("transport.")}
    return (*_TRANSPORT, "name"), name


def _open_named(data: dict[str, Any], key: tuple[str | int, ...]) -> None:
    """A name that stands for a table becomes that table, so that its keys can be set."""
    jobs, index = data.get("jobs"), key[1]
    if not isinstance(jobs, list) or not isinstance(index, int) or index >= len(jobs):
        return
    job, name = jobs[index], str(key[2])
    if len(key) > 3 and isinstance(job, dict) and isinstance(job.get(name), str):
        job[name] = {"name": job[name]}


def _choose_plan(data: dict[str, Any], index: str | int, name: str) -> None:
    """`jobs.0.plan=name`: the job trains that, and keeps nothing of what it did before.

    What was set on the command line before stays; a job called after its collective is called
    after the plan.
    """
    jobs = data.get("jobs")
    if not isinstance(jobs, list) or not isinstance(index, int) or index >= len(jobs):
        return
    job, sources = jobs[index], data.get("sources")
    if not isinstance(job, dict):
        return
    told = {
        key.split(".")[2]
        for key, entry in (sources.items() if isinstance(sources, dict) else ())
        if key.startswith(f"jobs.{index}.") and entry == _SET
    }
    kept = {key: value for key, value in job.items() if key in _KEPT | told}
    if kept.get("name") == job.get("collective") and "name" not in told:
        kept["name"] = name
    jobs[index] = kept


def split(setting: str) -> tuple[tuple[str | int, ...], Any]:
    """Key path and value of one setting."""
    name, equals, text = setting.partition("=")
    keys = [part.strip() for part in name.split(".")]
    if not equals or not all(keys):
        raise SpecError(
            _WHERE,
            f"{shown(setting)} is not a setting",
            "allowed is table.key=value, as transport.qps=4",
        )
    path = tuple(int(k) if k.isascii() and k.isdecimal() else k for k in keys)
    return path, _value(dotted(path), text.strip())


def _value(key: str, text: str) -> Any:  # noqa: ANN401 - TOML values have many types
    """A TOML value, or a bare word as text."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        table = {}
    if set(table) == {"value"}:
        return table["value"]
    if not text or text[0] in _QUOTING or not text.isprintable():
        raise SpecError(
            f"{_WHERE}: {key}",
            f"{shown(text)} is not a TOML value",
            'allowed is a number, true, false, a word or "text in quotes"',
        )
    return text


def _assign(data: dict[str, Any], path: tuple[str | int, ...], value: object) -> None:
    """Put a value at a path, making tables that the model knows."""
    here: Any = data
    for depth, key in enumerate(path):
        here = _check_step(here, path[:depth], key)
        if depth == len(path) - 1:
            here[key] = value
        elif isinstance(here, list):
            here = here[int(key)]
        else:
            is_array = isinstance(path[depth + 1], int)
            here = here.setdefault(key, [] if is_array else _default(path[:depth], str(key)))


def _default(table: tuple[str | int, ...], key: str) -> dict[str, Any]:
    """What a table that the file leaves out holds."""
    field = (fields_at(table) or {}).get(key)
    default = field.default if field else None
    return default.model_dump(exclude_defaults=True) if isinstance(default, BaseModel) else {}


def _check_step(here: Any, table: tuple[str | int, ...], key: str | int) -> Any:  # noqa: ANN401
    """The container that `key` indexes, an array grown by one table if it is the next index."""
    where = f"{_WHERE}: {dotted((*table, key))}"
    if isinstance(here, list):
        if not isinstance(key, int) or key > len(here):
            raise SpecError(
                where,
                f"{shown(key)} is not an index of {dotted(table)}",
                f"allowed is 0 to {len(here)}",
            )
        if key == len(here):
            here.append({})
        return here
    if table == ("prices",) and isinstance(here, dict):
        return here
    known = fields_at(table)
    if not isinstance(here, dict) or known is None:
        raise SpecError(
            where,
            f"{dotted(table)} is a value and has no keys",
            f"allowed is {_WHERE} {dotted(table)}=value",
        )
    if key == "sources":
        raise SpecError(where, "sources belong into the file", "a value set here has none")
    if key not in known:
        problem, hint = unknown_key(table, str(key))
        raise SpecError(where, problem, hint)
    return here
