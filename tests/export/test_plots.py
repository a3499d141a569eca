from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree as ET

import numpy as np

from clusterscope.export import plots
from clusterscope.views.shapes import Series
from tests.export import tricky_shapes as tricky


def test_plots_are_the_same_every_time() -> None:
    series = Series("s", np.arange(3.0), "step", {"a": np.arange(3.0)}, "busbw", "GBps")
    assert plots.lines(series, band=(0.9, 1.0)) == plots.lines(series, band=(0.9, 1.0))


def test_every_plot_is_well_formed_and_fetches_nothing() -> None:
    few = tricky.NAMES[:3]
    for svg in (
        plots.histogram({"nic-leaf": np.array([0.1, 0.9, np.nan, 1.2]), "none": np.zeros(0)}),
        plots.histogram({}),
        plots.phases({n: [plots.Bar("a", 0, 1), plots.Bar(n, 1, 2)] for n in few}),
        plots.phases({"overlapped": [plots.Bar("a", 0, 1), plots.Bar("b", 0, 2)]}),
        plots.phases({}),
    ):
        assert ET.fromstring(svg).tag.endswith("svg")
        assert "<!DOCTYPE" not in svg
        assert "<metadata" not in svg


def test_names_are_text_and_not_formulas() -> None:
    svg = plots.lines(tricky.series(), top=1.0)
    assert ET.fromstring(svg).tag.endswith("svg")
    assert "alert(1)&lt;/script&gt;" in svg
    assert "<script" not in svg
    assert "\\x1b[31mred" in svg


def test_a_plot_leaves_settings_of_matplotlib_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots.histogram({"a": np.array([0.5])})
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_imported_only_to_draw() -> None:
    code = (
        "import sys, clusterscope.export.bundle, clusterscope.export.one\n"
        "bad = {'matplotlib', 'textual', 'rich', 'networkx'} & set(sys.modules)\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
