"""The clusters that come with the package: complete, sourced, and true to what was published."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec import presets
from clusterscope.spec.checks import unmet
from clusterscope.spec.derive import derive

ISSUE = (
    "bytedance-10k",
    "gb200-nvl72",
    "gb200-superpod",
    "meta-24k-roce",
    "xai-colossus-100k",
)
SOURCED_TABLES = ("node", "scale_up", "scale_out", "expect", "transport")


def test_the_presets_are_there():
    assert set(ISSUE) <= set(presets.names())


@pytest.mark.parametrize("name", presets.names())
def test_preset_gives_what_it_expects(name):
    spec = presets.load(name)
    assert spec.name == name
    assert spec.title
    assert spec.description
    assert unmet(spec, derive(spec)) == ()
    assert spec.expect.gpus == spec.gpus
    assert [job.ranks for job in spec.jobs] == [None]


@pytest.mark.parametrize("name", presets.names())
def test_every_number_has_a_source_or_says_it_is_an_estimate(name):
    data = tomllib.loads(presets.text(name))
    wanted = {
        f"{table}.{key}"
        for table in SOURCED_TABLES
        for key, value in data.get(table, {}).items()
        if isinstance(value, int | float)
    } | {"transport.name", "jobs", "sim"}
    assert wanted <= set(data["sources"])
    for key, entry in data["sources"].items():
        if entry.get("estimate"):
            assert entry.get("why"), key
        else:
            assert entry.get("source"), key


@pytest.mark.parametrize("name", presets.names())
def test_preset_follows_the_json_schema(name):
    jsonschema.validate(tomllib.loads(presets.text(name)), presets.schema())


@pytest.mark.parametrize(
    ("name", "switches"),
    [
        ("xai-colossus-100k", (1600, 1600, 800)),
        ("meta-24k-roce", (1536, 144, 8)),
        ("bytedance-10k", (192, 192, 96)),
        ("gb200-superpod", (20, 10, 0)),
    ],
)
def test_switch_counts(name, switches):
    plan = derive(presets.load(name))
    assert plan is not None
    assert (plan.leaves, plan.spines_total, plan.cores_total) == switches


def test_meta_taper_is_the_published_one_to_seven():
    plan = derive(presets.load("meta-24k-roce"))
    assert plan is not None
    down = plan.nodes * plan.nics * plan.nic_gbps
    assert down / (plan.spine_core_cables * plan.link_gbps) == pytest.approx(7, rel=0.03)


def test_nvl72_is_one_domain():
    spec = presets.load("gb200-nvl72")
    assert derive(spec) is None
    assert spec.scale_up is not None
    assert spec.scale_up.domain_gpus == spec.gpus == 72
    assert spec.scale_up.gpu_gbps * 72 * 2 / 8000 == pytest.approx(129.6)  # TB/s, both directions


def test_summaries_match_the_specs():
    for row in presets.summaries():
        spec = presets.load(row.name)
        assert (row.title, row.gpus, row.nodes) == (spec.title, spec.gpus, spec.node.count)
        assert row.transport == spec.transport.name
        assert row.source
        assert 0 <= row.estimate_share <= 1


def test_listing_loads_no_heavy_modules():
    code = (
        "import sys; from clusterscope.spec import presets; assert presets.summaries();"
        "print([m for m in ('pydantic', 'numpy', 'textual', 'networkx') if m in sys.modules])"
    )
    home = Path(presets.__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=home
    )
    assert run.stdout.strip() == "[]"


def test_misspelt_preset_tells_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        presets.load("xai-collossus-100k")
    assert caught.value.near == "xai-colossus-100k"
    with pytest.raises(UnknownNameError, match="clusterscope presets"):
        presets.load("q")


def test_load_takes_a_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(presets.text("gb200-nvl72"), "utf-8")
    assert presets.load(path) == presets.load(str(path)) == presets.load("gb200-nvl72")
    with pytest.raises(SpecError, match="no such file"):
        presets.load(tmp_path / "none.toml")


def test_load_applies_overrides():
    spec = presets.load("meta-24k-roce", ["transport=spectrum-x", "jobs.0.message_bytes=64MiB"])
    assert spec.transport.name == "spectrum-x"
    assert spec.transport.qps is None  # 16 queue pairs belonged to the other transport
    assert spec.jobs[0].message_bytes == 64 * 2**20
    assert "transport.qps" not in spec.sources
    assert spec.sources["transport.name"].why == "set on the command line"
    assert presets.load("meta-24k-roce", ["transport=rocev2"]).transport.qps == 16
