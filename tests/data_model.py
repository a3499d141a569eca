"""`make docs`: docs/data-model.md from the array fields themselves."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import clusterscope
from clusterscope.columns import Arrays, columns_of

TARGET = Path(__file__).parent.parent / "docs" / "data-model.md"
HEAD = """# Data model

Every struct of arrays, with the axes, unit and meaning of each array. Made by `make docs`.

Axes are single capitals, the same everywhere: G GPUs, M nodes, N NIC ports, S switches, C cables,
L = 2C directed links, B bundles, F flows, E entries, U entities, P ports of an exchange, R ranks.
`+1` is one longer; a digit is a fixed length.
"""


def structs() -> list[type[Arrays]]:
    """All structs of arrays in the package, in order of module and name."""
    for found in pkgutil.walk_packages(clusterscope.__path__, "clusterscope."):
        if not found.name.endswith("__main__") and ".tui" not in found.name:
            importlib.import_module(found.name)
    return sorted(_below(Arrays), key=lambda c: (c.__module__, c.__qualname__))


def _below(cls: type) -> list[type]:
    return [c for sub in cls.__subclasses__() for c in (sub, *_below(sub))]


def text() -> str:
    """The page."""
    parts = [HEAD]
    for cls in structs():
        if not cls.__module__.startswith("clusterscope."):
            continue
        summary = (cls.__doc__ or "").strip().splitlines()[0]
        parts.append(f"\n## {cls.__qualname__} (`{cls.__module__}`)\n\n{summary}\n")
        parts.append("| array | axes | type | unit | meaning |\n|---|---|---|---|---|")
        for name, (col, dtype) in columns_of(cls).items():
            kind = getattr(dtype, "__name__", str(dtype))
            parts.append(f"| `{name}` | {col.shape} | {kind} | {col.unit} | {col.doc} |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
