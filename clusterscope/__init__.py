"""ClusterScope: a terminal explorer and digital twin for AI cluster networks.

The public API is imported on first use, so that `import clusterscope` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterscope.engine.completion import completion_times
    from clusterscope.engine.rates import max_min
    from clusterscope.engine.scenario import build
    from clusterscope.engine.timeline import Timeline
    from clusterscope.metrics.report import report
    from clusterscope.spec.presets import load

__version__ = "0.1.0"

_HOME = {
    "load": "clusterscope.spec.presets",
    "build": "clusterscope.engine.scenario",
    "Timeline": "clusterscope.engine.timeline",
    "report": "clusterscope.metrics.report",
    "max_min": "clusterscope.engine.rates",
    "completion_times": "clusterscope.engine.completion",
}

__all__ = ["Timeline", "__version__", "build", "completion_times", "load", "max_min", "report"]


def __getattr__(name: str) -> object:
    """Import a public name from the room that owns it."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    msg = f"module 'clusterscope' has no attribute {name!r}"
    raise AttributeError(msg)
