"""Clusters that come with the package, and `load`, which takes one of them or a file.

Listing presets reads TOML and nothing else; the model is imported when a spec is loaded, so that
`clusterscope presets` answers at once.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clusterscope.errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from clusterscope.spec.model import ClusterSpec

SUFFIX = ".toml"
ETHERNET, INFINIBAND, OTHER = "Ethernet", "InfiniBand", "other networks"
SCALE_UP, OWN = "scale-up alone", "designs of our own"
GROUPS = (ETHERNET, INFINIBAND, OTHER, SCALE_UP, OWN)
_OTHER_TRANSPORTS = ("slingshot", "srd")
_BARE = ("collective", "message_bytes")  # what a job without any of its tables needs
MAX_NAME = 60  # characters of a wrong name that are worth repeating
_COUNTED = ("node.", "scale_up.", "scale_out.", "dragonfly.", "expect.", "transport.")


class Summary(NamedTuple):
    """One line of the list of presets.

    Attributes:
        name: what `load` takes.
        title: the cluster in a few words.
        gpus: GPUs in the cluster.
        nodes: nodes in the cluster.
        transport: catalogue name of its transport; the kind of its scale-up network when it has
            no other.
        group: what it is listed under, one of `GROUPS`.
        source: the document that its size rests on.
        estimate_share: share of its numbers that are estimates, 0 to 1.
    """

    name: str
    title: str
    gpus: int
    nodes: int
    transport: str
    group: str
    source: str
    estimate_share: float


def grouped(rows: Iterable[Summary]) -> tuple[tuple[str, tuple[Summary, ...]], ...]:
    """Rows by group, groups in the order of `GROUPS`, the largest cluster of each first."""
    by_size = sorted(rows, key=lambda row: (-row.gpus, row.name))
    groups = ((group, tuple(row for row in by_size if row.group == group)) for group in GROUPS)
    return tuple((group, members) for group, members in groups if members)


def load(spec: str | PathLike[str], overrides: Iterable[str] = ()) -> ClusterSpec:
    """A preset by name, or a spec file by path.

    Args:
        spec: a preset name, or a path that ends in .toml or holds a separator.
        overrides: `table.key=value` settings on top.

    Raises:
        UnknownNameError: no such preset; names the nearest.
        SpecError: the spec cannot be read or describes no cluster that can be built.
    """
    from clusterscope.spec.read import parse, read

    name = fspath(spec)
    if not name.strip():
        hint = "name a preset ('clusterscope presets' lists them) or a .toml file"
        raise SpecError("SPEC", "is empty", hint)
    if name in names():
        return parse(text(name), f"preset {name}", overrides)
    if not isinstance(spec, str) or _is_path(name):
        return read(name, overrides)
    raise UnknownNameError(
        "preset",
        name[:MAX_NAME],
        names(),
        hint="'clusterscope presets' lists them, or give a .toml file",
    )


def names() -> tuple[str, ...]:
    """Names of all presets, sorted."""
    return tuple(sorted(_files()))


def text(name: str) -> str:
    """TOML text of a preset.

    Raises:
        UnknownNameError: no such preset; names the nearest.
    """
    found = _files()
    if name not in found:
        raise UnknownNameError("preset", name, found)
    return found[name].read_text("utf-8")


def summaries() -> tuple[Summary, ...]:
    """One line for each preset, sorted by name."""
    return tuple(_summary(name, tomllib.loads(text(name))) for name in names())


def schema() -> dict[str, Any]:
    """JSON Schema of a spec file."""
    from clusterscope.spec.model import ClusterSpec

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_by_name(ClusterSpec.model_json_schema()),
    }


def _by_name(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with names that stand for tables of a job, and what may be left out."""
    schema["$defs"]["ScaleUpSpec"]["required"].remove("gpu_gbps")
    job = schema["$defs"]["JobSpec"]
    tables = ("model", "plan", "serve")
    for key in tables:
        job["properties"][key]["anyOf"].append({"type": "string"})
    job["required"] = ["name"]
    job["anyOf"] = [{"required": list(keys)} for keys in (_BARE, *((key,) for key in tables))]
    return schema


def _is_path(name: str) -> bool:
    """True for what can only be a file, or is one."""
    return name.endswith(SUFFIX) or "/" in name or "\\" in name or _exists(name)


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # too long, or holds a NUL
        return False


def _files() -> dict[str, Traversable]:
    """Preset files by name: those in the installed package, else those of the checkout."""
    package = files("clusterscope")
    for folder in (package / "presets", Path(__file__).parents[2] / "presets"):
        if folder.is_dir():
            return {
                file.name.removesuffix(SUFFIX): file
                for file in folder.iterdir()
                if file.name.endswith(SUFFIX)
            }
    return {}


def _summary(name: str, data: dict[str, Any]) -> Summary:
    node, sources = data["node"], data.get("sources", {})
    counted = [entry for key, entry in sources.items() if key.startswith(_COUNTED)]
    estimates = sum(bool(entry.get("estimate")) for entry in counted)
    cited = Counter(entry["source"] for entry in counted if entry.get("source"))
    size = sources.get("node.count", {}).get("source")
    return Summary(
        name=name,
        title=data.get("title", ""),
        gpus=node["count"] * node["gpus"],
        nodes=node["count"],
        transport=_transport(data),
        group=_group(data),
        source=size or (cited.most_common(1)[0][0] if cited else ""),
        estimate_share=estimates / len(counted) if counted else 0.0,
    )


def _transport(data: dict[str, Any]) -> str:
    """Catalogue name of the transport, or the kind of scale-up network when there is no other."""
    if not _outward(data) and "scale_up" in data:
        kind: str = data["scale_up"].get("kind", "nvlink")
        return kind
    name: str = data.get("transport", {}).get("name", "infiniband")
    return name


def _outward(data: dict[str, Any]) -> bool:
    """True when a network joins the nodes."""
    return "scale_out" in data or "dragonfly" in data


def _group(data: dict[str, Any]) -> str:
    """What a preset is listed under: the kind of network that its nodes talk over."""
    name = _transport(data)
    if data.get("design"):
        return OWN
    if not _outward(data):
        return SCALE_UP
    if name.startswith("infiniband"):
        return INFINIBAND
    return OTHER if name in _OTHER_TRANSPORTS else ETHERNET
