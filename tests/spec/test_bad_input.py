"""Each kind of mistake is one sentence: file, key, value, what is allowed, nearest right name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from clusterscope.errors import ClusterscopeError, SpecError
from clusterscope.spec.model import ClusterSpec, EventSpec
from clusterscope.spec.read import parse
from clusterscope.spec.training import StragglersSpec
from tests.spec.spec_samples import TEXT

NODE_COUNT = "count = 16"
LONG = "x" * 119

# what is replaced, by what, key in the message, words in the message
MISTAKES = [
    ("count = 16", "cuont = 16", "node.cuont", ["not a key of [node]", "'count'", "(and 1 more)"]),
    ("[scale_out]", "[scaleout]", "scaleout", ["'scaleout' is not a key", "'scale_out'"]),
    ("count = 16", "", "node.count", ["is missing", "whole number", "number of nodes"]),
    ("count = 16", 'count = "16"', "node.count", ["'16'", "whole number from 1"]),
    ("count = 16", "count = 16.0", "node.count", ["16.0", "whole number"]),
    ("count = 16", "count = true", "node.count", ["true", "whole number"]),
    ("count = 16", "count = -5", "node.count", ["-5", "from 1"]),
    ("count = 16", "count = [1]", "node.count", ["an array", "whole number"]),
    ("count = 16", "count = 1979-05-27", "node.count", ["1979-05-27", "whole number"]),
    ("count = 16", f"count = 0x{'f' * 4000}", "node.count", ["16000 bits", "whole number"]),
    ("gpus = 8", "gpus = 5000", "node.gpus", ["5000", "1 to 1024"]),
    ("nic_gbps = 400.0", "nic_gbps = nan", "node.nic_gbps", ["nan", "above 0 and at most 100000"]),
    ("nic_gbps = 400.0", "nic_gbps = inf", "node.nic_gbps", ["inf", "at most 100000"]),
    (
        "nic_gbps = 400.0",
        "nic_gbps = 300",
        "node.nic_gbps",
        ["300", "200 or 400", "nearest is 200"],
    ),
    ("nic_gbps = 400.0", "nic_gbps = 800", "node.nic_gbps", ["800", "at most 400"]),
    ('"H100-SXM"', '"H100-SXN"', "node.gpu", ["'H100-SXN'", "'H100-SXM'"]),
    ('"H100-SXM"', '""', "node.gpu", ["''", "1 to 120 characters"]),
    ('"CX-7-400"', '"CX7"', "node.nic", ["'CX7'", "CX-7-400"]),
    ("tiers = 2", "tiers = 5", "scale_out.tiers", ["5", "1, 2 or 3"]),
    ('"rail"', '"rial"', "scale_out.wiring", ["'rial'", "rail, rack or rail-only", "'rail'?"]),
    ('"QM9700"', '"QM9701"', "scale_out.leaf_switch", ["'QM9701'", "'QM9700'"]),
    ("domain_gpus = 8", "domain_gpus = 7", "scale_up.domain_gpus", ["7", "divisor of 128", "8"]),
    ('"infiniband"', '"infinband"', "transport.name", ["'infinband'", "'infiniband'"]),
    ('"all-reduce"', '"allreduce"', "jobs.0.collective", ["'allreduce'", "'all-reduce'?"]),
    ('"1 GiB"', '"1 GiBB"', "jobs.0.message_bytes", ["'1 GiBB'", '"1 MiB"']),
    ('"1 GiB"', "0", "jobs.0.message_bytes", ["0", "from 1"]),
    ("[[jobs]]", "[jobs]", "jobs", ["a table", "an array of tables"]),
    ("[node]", "[[node]]", "node", ["an array", "a table"]),
    (TEXT, 'name = "x"', "node", ["is missing", "a table"]),
    ('name = "small"', f'name = "\\u001b[31m{LONG}"', "name", ["'\\x1b[31mxxx", "…'"]),
    ('name = "small"', '"\\u001b[2J" = 1', "'\\x1b[2J'", ["not a key"]),
    ('name = "train"', 'name = "train"\nranks = 129', "jobs.0.ranks", ["129", "1 to 128"]),
    ('name = "train"', 'name = "train"\nfirst_gpu = 128', "jobs.0.first_gpu", ["128", "0 to 127"]),
    (
        "[transport]",
        '[sources]\n"node.cuont" = {}\n[transport]',
        "sources.'node.cuont'",
        ["'count'"],
    ),
]


@pytest.mark.parametrize(("old", "new", "key", "words"), MISTAKES)
def test_mistakes_in_a_file(old, new, key, words):
    assert old in TEXT
    with pytest.raises(SpecError) as caught:
        parse(TEXT.replace(old, new, 1), "my.toml")
    message = str(caught.value)
    assert message.startswith(f"my.toml: {key}: ")
    assert all(word in message for word in words), message
    assert message.isprintable()
    assert caught.value.exit_code == 2


SETTINGS = [
    ("node.cuont=3", "node.cuont", ["not a key of [node]", "'count'"]),
    ("nod.count=3", "nod", ["'nod'", "'node'"]),
    ("node.count=0", "node.count", ["0 is not allowed", "from 1"]),
    ("node.count=many", "node.count", ["'many'", "whole number"]),
    ("node.count.x=1", "node.count.x", ["is a value"]),
    ("jobs.7.ranks=1", "jobs.7", ["not an index", "0 to 1"]),
    ("jobs.x.ranks=1", "jobs.x", ["not an index", "0 to 1"]),
    ("jobs=3", "jobs", ["3", "array of tables"]),
    ("node=3", "node", ["3", "a table"]),
    ('transport.name="x', "transport.name", ["not a TOML value"]),
    ("sim.steps=", "sim.steps", ["not a TOML value"]),
    ("sim.steps=1\nseed=2", "sim.steps", ["not a TOML value"]),
    ("sources=3", "sources", ["belong into the file"]),
    ("scale_out.wiring=rial", "scale_out.wiring", ["'rial'", "'rail'?"]),
]


@pytest.mark.parametrize(("setting", "key", "words"), SETTINGS)
def test_mistakes_in_a_setting(setting, key, words):
    with pytest.raises(SpecError) as caught:
        parse(TEXT, "my.toml", [setting])
    message = str(caught.value)
    assert message.startswith(f"--set: {key}: ")
    assert all(word in message for word in words), message
    assert message.isprintable()


@pytest.mark.parametrize("setting", ["node.count", "", "=3", "node..count=3", "."])
def test_what_is_no_setting(setting):
    with pytest.raises(SpecError, match=r"allowed is table\.key=value"):
        parse(TEXT, "my.toml", [setting])


def test_contradictions_after_settings_name_both():
    with pytest.raises(ClusterscopeError, match=r"my.toml with --set: jobs.0.ranks: 999 is more"):
        parse(TEXT, "my.toml", ["jobs.0.ranks=999"])


def test_two_jobs_of_one_name():
    with pytest.raises(SpecError, match=r"jobs.1.name: 'train' is also the name of jobs.0"):
        parse(TEXT + '[[jobs]]\nname = "train"\ncollective = "incast"\nmessage_bytes = 1\n')


EVERYTHING = (
    TEXT.replace("domain_gpus = 8", 'domain_gpus = 16\ntopology = "two-level"\ngroup_gpus = 8')
    + """
[[jobs]]
name = "trains"

[jobs.model]
name = "gpt3-175b"

[jobs.plan]
tp = 8
pp = 2
microbatches = 4

[front_end]
nic_gbps = 100.0
switch = "generic-64"
tiers = 3
storage_nodes = 4
"""
)
_LAST = {"jobs": "1.", "events": "0."}
ODD = ["0", "1", "-1", "1e-300", "1e300", "999999999999", str(10**12), str(2**63), "true", "''"]


def keys_of(table: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Dotted key of every value of a table and of the tables in it."""
    for name, field in table.model_fields.items():
        inner = next((t for t in _types(field.annotation) if issubclass(t, BaseModel)), None)
        many = "tuple" in str(field.annotation)
        if inner is None:
            yield prefix + name
        elif name not in ("expect", "sources"):
            yield from keys_of(inner, f"{prefix}{name}.{_LAST.get(name, '') if many else ''}")


def _types(annotation: Any) -> list[type]:
    inner = [t for part in get_args(annotation) for t in _types(part)]
    return inner or ([annotation] if isinstance(annotation, type) else [])


@pytest.mark.parametrize("key", [k for k in keys_of(ClusterSpec) if k != "sources"])
def test_any_number_anywhere_is_taken_or_refused_in_a_sentence(key):
    told = []
    for value in ODD:
        try:
            parse(EVERYTHING, "my.toml", [f"{key}={value}"])
        except ClusterscopeError as error:
            told.append(str(error))
    assert all(message.isprintable() for message in told)


def test_what_those_keys_are_tried_on_is_sound():
    parse(EVERYTHING)


RATES = [k for k in keys_of(ClusterSpec) if k.endswith(("_gbps", "taper"))]


@pytest.mark.parametrize("key", [k for k in RATES if not k.startswith("dragonfly")])
@pytest.mark.parametrize("value", ["1e-300", "9e-7", "5e-324"])
def test_a_rate_of_next_to_nothing(key, value):
    with pytest.raises(
        SpecError, match=rf"{key}: .* is next to nothing; allowed is at least 1e-06"
    ):
        parse(EVERYTHING, "my.toml", [f"{key}={value}"])


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n"])
def test_an_empty_file_is_told_as_that(text):
    with pytest.raises(SpecError, match=r"mine\.toml: is empty; a cluster needs a name and"):
        parse(text, "mine.toml")


@pytest.mark.parametrize("share", [0.0, 0.001, 1e-7, 1.5])
def test_what_a_degrade_or_a_straggler_leaves_is_one_range(share):
    for kind, keys in (
        (EventSpec, {"step": 0, "kind": "degrade", "target": "node0", "scale": share}),
        (StragglersSpec, {"speed": share}),
    ):
        with pytest.raises(ValidationError):
            kind(**keys)
    assert StragglersSpec(speed=0.01).speed == 0.01
