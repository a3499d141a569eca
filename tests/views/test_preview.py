"""Preview: the published sizes, with their marks, before anything is built."""

from __future__ import annotations

from clusterscope.spec.presets import load
from clusterscope.views.preview import preview
from tests import small


def test_colossus_on_paper():
    note = preview(load("xai-colossus-100k"))
    facts = {fact.label: fact for fact in note.facts}
    assert note.title == "xai-colossus-100k"
    assert note.lines[0].startswith("xAI Colossus")
    assert facts["GPUs"].value.startswith("100,000 ")
    assert facts["leaf"].value.startswith("1,600 ")
    assert facts["leaf"].mark == "estimate"
    assert facts["core"].value.startswith("800 ")
    assert facts["nodes"].mark == "source"
    assert facts["cables"].value == 304_800
    assert facts["expect leaf-spine"].value == "102,400"
    assert "estimates" in facts["numbers"].value


def test_a_cluster_without_scale_out_has_no_switches():
    labels = {fact.label for fact in preview(load("gb200-nvl72")).facts}
    assert "scale-up" in labels
    assert not {"leaf", "tiers", "cables"} & labels


def test_a_count_that_is_not_as_expected_is_told():
    spec = small.spec(expect={"leaf": 4, "spine": 3})
    facts = {fact.label: fact.value for fact in preview(spec).facts}
    assert facts["expect leaf"] == "4"
    assert facts["expect spine"] == "3, but the spec gives 2"
    assert facts["numbers"] == "none names a source"


def test_names_are_data():
    spec = small.spec(name="[b]x[/b]\x1b[31m")
    assert preview(spec).title == "[b]x[/b]\N{REPLACEMENT CHARACTER}[31m"
