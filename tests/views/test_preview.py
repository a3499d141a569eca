"""Preview: the published sizes, with their marks, before anything is built."""

from __future__ import annotations

from clusterscope.spec.presets import load
from clusterscope.views.origin import origin_of, shaky
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


def test_what_is_in_doubt_is_marked_and_told():
    note = preview(load("hpn-15k"))
    facts = [fact for fact in note.facts if fact.label == "in doubt"]
    assert [fact.mark for fact in facts] == ["doubt"] * 3
    assert any("the number of cores is not stated" in str(fact.value) for fact in facts)
    by_label = {fact.label: fact for fact in note.facts}
    assert by_label["transport"].mark == "doubt"
    assert "congestion control is not stated" in by_label["transport"].source
    assert "3 in doubt" in str(by_label["numbers"].value)


def test_an_estimate_in_doubt_says_both():
    spec = small.spec(
        sources={"node.count": {"estimate": True, "why": "a guess", "doubt": "another says 7"}}
    )
    origin = origin_of(spec, "node.count")
    assert origin.mark == "doubt"
    assert origin.text == "estimate: a guess; in doubt: another says 7"
    assert shaky(spec, "node.count") == "doubt"
    assert shaky(spec, "node.gpus") == "derived"
