"""One view or picture as one file, for the explorer."""

from __future__ import annotations

from pathlib import Path

from clusterscope.export import csv
from clusterscope.export.files import write_whole
from clusterscope.views.shapes import Shape


def write_view(shape: Shape, path: str | Path) -> Path:
    """Write a shape as CSV, whole or not at all; gives the path written.

    Raises:
        SpecError: the file cannot be written.
    """
    target = Path(path)
    write_whole(target, csv.write(shape))
    return target


def write_picture(svg: str, path: str | Path) -> Path:
    """Write an SVG, whole or not at all; gives the path written.

    Raises:
        SpecError: the file cannot be written.
    """
    target = Path(path)
    write_whole(target, svg)
    return target
