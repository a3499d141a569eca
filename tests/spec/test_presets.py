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
from clusterscope.spec.checks import MEMORY_LIMIT_BYTES, memory_bytes, unmet
from clusterscope.spec.derive import derive

ISSUE = (
    "bytedance-10k",
    "eagle-14k",
    "gb200-nvl72",
    "gb200-superpod",
    "gb300-4608",
    "gpt4-a100-25k",
    "hpn-15k",
    "meta-24k-ib",
    "meta-24k-roce",
    "million",
    "scaleway-nabu",
    "scaleway-spectrumx",
    "superpod-b300-4608",
    "superpod-h100-1016",
    "superpod-h100-16k",
    "xai-colossus-100k",
)
SOURCED_TABLES = (
    "node",
    "scale_up",
    "scale_out",
    "front_end",
    "dragonfly",
    "expect",
    "transport",
)


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
    whole = spec.jobs[0].ranks is None or spec.jobs[0].collective == "training"
    assert len(spec.jobs) > 1 or whole


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
        ("superpod-h100-1016", (32, 16, 0)),
        ("superpod-h100-16k", (512, 512, 256)),
        ("superpod-b300-4608", (64, 36, 0)),
        ("gb300-4608", (64, 32, 0)),
        ("meta-24k-ib", (768, 768, 384)),
        ("eagle-14k", (456, 480, 240)),
        ("scaleway-spectrumx", (16, 8, 0)),
        ("scaleway-nabu", (32, 16, 0)),
        ("hpn-15k", (240, 120, 8)),
        ("gpt4-a100-25k", (8 * 157, 8 * 160, 8 * 80)),
        ("million", (8 * 2048, 8 * 2048, 8 * 1024)),
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


@pytest.mark.parametrize("name", ["superpod-h100-1016", "scaleway-nabu"])
def test_superpod_of_four_units_has_the_cables_of_the_table(name):
    plan = derive(presets.load(name))
    assert plan is not None
    assert plan.nic_leaf_cables + plan.management_cables == 1020  # "compute and UFM"
    assert plan.leaf_spine_cables == 1024


def test_topo_04_hpn_pod():
    spec = presets.load("hpn-15k")
    plan = derive(spec)
    assert plan is not None
    assert spec.scale_out is not None
    assert spec.gpus == 15 * 1024 == 15_360
    assert plan.sus == 15
    assert plan.spine_down == 15 * plan.rails == 120
    assert plan.spine_down / plan.spine_up == 15
    # With an aggregation switch to one rail alone, each of its 120 ports down is a segment.
    assert plan.spine_down * 1024 == 122_880


def test_topo_12_hpn_scaling_chain():
    spec = presets.load("hpn-15k")
    plan = derive(spec)
    assert plan is not None
    assert spec.scale_out is not None
    active = spec.scale_out.su_nodes
    taper = active * plan.port_gbps / (plan.leaf_up * plan.link_gbps)
    assert taper == pytest.approx(1.067, abs=0.001)
    assert plan.leaf_down - active == 8  # sockets for the backup nodes of a segment
    assert plan.leaf_down * plan.port_gbps + plan.leaf_up * plan.link_gbps == 51_200
    tor = active * plan.port_gbps / plan.nic_gbps
    assert (tor, tor * plan.planes, active * plan.nics) == (64, 128, 1024)
    assert active * plan.nics * plan.sus == 15_360
    assert plan.leaf_up == 60  # paths to search


def test_gpt4_is_eight_trees_since_it_cannot_be_one():
    plan = derive(presets.load("gpt4-a100-25k"))
    assert plan is not None
    radix = 40
    assert plan.nodes * plan.nics > radix**3 / 4  # a three-tier tree of 40 ports ends here
    assert plan.nodes < radix**3 / 4
    assert (plan.wiring, plan.blocks_per_pod_plane) == ("rail-only", 8)


def test_million_is_marked_as_a_design_of_our_own():
    spec = presets.load("million")
    assert spec.design
    assert spec.gpus == 2**20
    assert "our own design" in spec.title
    assert {row.name: row.group for row in presets.summaries()}["million"] == presets.OWN
    plan = derive(spec)
    assert plan is not None
    assert plan.bisection_gbps == spec.gpus * 400 / 2
    assert plan.nodes > 128**2 / 2  # a rail of it needs three tiers of 128 ports


DOUBTED = {
    "xai-colossus-100k": ("scale_out.wiring", "transport.name"),
    "meta-24k-roce": ("scale_out.leaf_up",),
    "meta-24k-ib": ("scale_out.tiers", "transport.name"),
    "gpt4-a100-25k": ("node.count", "scale_out.tiers", "expect.gpus"),
    "gb200-nvl72": ("node.gpu",),
    "gb200-superpod": ("scale_out.spines",),
    "superpod-b300-4608": ("node.gpu", "expect.gpus"),
    "scaleway-spectrumx": ("node.count",),
    "scaleway-nabu": ("node.count", "transport.name"),
    "eagle-14k": ("scale_out.tiers",),
    "gb300-4608": ("scale_out.spines",),
    "hpn-15k": ("node.gpu", "scale_out.cores", "transport.name"),
}


@pytest.mark.parametrize(("name", "keys"), DOUBTED.items())
def test_doubtful_points_are_told(name, keys):
    doubted = {key for key, source in presets.load(name).sources.items() if source.doubt}
    assert set(keys) <= doubted


def test_presets_are_listed_by_group_and_size():
    listed = presets.grouped(presets.summaries())
    assert [group for group, _ in listed] == [g for g in presets.GROUPS if g in dict(listed)]
    for _, rows in listed:
        sizes = [row.gpus for row in rows]
        assert sizes == sorted(sizes, reverse=True)
    assert sum(len(rows) for _, rows in listed) == len(presets.names())


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
        inside = spec.scale_up.kind if spec.scale_up else ""
        assert row.transport == (
            spec.transport.name if spec.scale_out or spec.dragonfly else inside
        )
        assert row.group in presets.GROUPS
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


def test_memory_of_the_million_is_told_and_allowed():
    spec = presets.load("million")
    plan = derive(spec)
    assert plan is not None
    need = memory_bytes(spec, plan.cables)
    # Measured to its first frame: 0.9 GB; limit of the product: 5 GB.
    assert 0.7e9 < need < 1.3e9
    assert need < MEMORY_LIMIT_BYTES
