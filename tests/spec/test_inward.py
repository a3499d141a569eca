"""`[scale_up]` with its size alone is that of the GPU."""

from __future__ import annotations

import jsonschema
import pytest

from clusterscope.errors import SpecError
from clusterscope.spec import parts, presets
from clusterscope.spec.read import parse

MINE = """
name = "mine"
[node]
count = 4
gpus = 8
gpu = "{gpu}"
nics = 8
nic_gbps = 400.0
[scale_up]
{more}
"""


def read(more="domain_gpus = 8", gpu="H100-SXM"):
    return parse(MINE.format(gpu=gpu, more=more)).scale_up


@pytest.mark.parametrize("gpu", parts.gpus())
def test_rate_and_kind_are_those_of_the_gpu(gpu):
    up, own = read(gpu=gpu), parts.gpu(gpu)
    assert (up.gpu_gbps, up.kind) == (own.scale_up_gbps, own.scale_up_kind)
    assert parts.scale_up_transport(up.kind)


def test_vendors_have_networks_of_their_own():
    kinds = {gpu: parts.gpu(gpu).scale_up_kind for gpu in parts.gpus()}
    assert {gpu for gpu, kind in kinds.items() if kind != "nvlink"} == {
        "MI300X", "MI250X", "Trainium2", "UALink-accelerator",
    }  # fmt: skip


def test_what_is_written_stands():
    up = read('domain_gpus = 8\nkind = "ualink"\ngpu_gbps = 800.0')
    assert (up.kind, up.gpu_gbps) == ("ualink", 800.0)


def test_what_is_still_missing_is_told_at_once():
    with pytest.raises(SpecError, match=r"scale_up.domain_gpus: is missing"):
        read("")
    with pytest.raises(SpecError, match="did you mean 'H100-SXM'"):
        read(gpu="H100-SMX")


def test_the_schema_does_not_ask_for_the_rate():
    node = {"count": 1, "gpus": 8, "gpu": "H100-SXM", "nics": 0, "nic_gbps": 400.0}
    tables = {"name": "x", "node": node, "scale_up": {"domain_gpus": 8}}
    jsonschema.validate(tables, presets.schema())
