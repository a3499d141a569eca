"""Small specs for tests: one valid text, and any spec that derives."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from clusterscope.spec.model import ClusterSpec, NodeSpec, ScaleOutSpec

TEXT = """\
name = "small"

[node]
count = 16
gpus = 8
gpu = "H100-SXM"
nics = 8
nic = "CX-7-400"
nic_gbps = 400.0

[scale_up]
domain_gpus = 8
gpu_gbps = 3600.0

[scale_out]
tiers = 2
wiring = "rail"
su_nodes = 8
leaf_switch = "QM9700"

[transport]
name = "infiniband"

[[jobs]]
name = "train"
collective = "all-reduce"
message_bytes = "1 GiB"
"""


def cluster(
    nodes: int, *, nics: int = 8, gpus: int = 8, nic_gbps: float = 400.0, **out: Any
) -> ClusterSpec:
    out = {"wiring": "rail", "tiers": 2, "leaf_switch": "QM9700"} | out
    node = NodeSpec(count=nodes, gpus=gpus, gpu="generic", nics=nics, nic_gbps=nic_gbps)
    return ClusterSpec(name="test", node=node, scale_out=ScaleOutSpec(**out))


_TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
_NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
_RATE = st.floats(0.001, 100_000)


@st.composite
def specs(draw: st.DrawFn) -> ClusterSpec:
    """Any spec that the model takes, whether or not a fabric could be built from it."""

    def maybe(strategy: st.SearchStrategy[Any]) -> Any:
        return draw(st.none() | strategy)

    count = st.integers(1, 2000)
    tables: dict[str, Any] = {
        "name": draw(_NAME),
        "title": draw(_TEXT),
        "description": draw(_TEXT),
        "node": {
            "count": draw(count),
            "gpus": draw(st.integers(1, 16)),
            "gpu": draw(_NAME),
            "nics": draw(st.integers(0, 16)),
            "nic_gbps": draw(_RATE),
        },
        "scale_up": maybe(
            st.fixed_dictionaries(
                {"domain_gpus": count, "gpu_gbps": _RATE}, optional={"switch": _NAME}
            )
        ),
        "scale_out": maybe(
            st.fixed_dictionaries(
                {
                    "tiers": st.sampled_from([1, 2, 3]),
                    "wiring": st.sampled_from(["rail", "rack", "rail-only"]),
                    "su_nodes": count,
                    "leaf_switch": _NAME,
                },
                optional={
                    "planes": st.integers(1, 8),
                    "leaf_up": count,
                    "leaf_taper": st.floats(0.1, 10),
                    "cores": count,
                },
            )
        ),
        "transport": draw(
            st.fixed_dictionaries({"name": _NAME}, optional={"qps": st.integers(1, 16)})
        ),
        "jobs": draw(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "name": _NAME,
                        "collective": st.sampled_from(["all-reduce", "all-to-all", "incast"]),
                        "message_bytes": st.integers(1, 2**40),
                    },
                    optional={"ranks": count, "hierarchical": st.booleans()},
                ),
                max_size=3,
            )
        ),
        "sim": draw(
            st.fixed_dictionaries(
                {}, optional={"seed": st.integers(0, 2**63 - 1), "dt_s": st.floats(1e-9, 1)}
            )
        ),
        "events": draw(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "step": st.integers(0, 100),
                        "kind": st.sampled_from(["fail", "degrade", "restore"]),
                        "target": _NAME,
                    }
                ),
                max_size=3,
            )
        ),
        "expect": draw(st.fixed_dictionaries({}, optional={"leaf": count})),
        "sources": draw(
            st.dictionaries(
                st.sampled_from(["node.count", "jobs", "transport.name"]),
                st.fixed_dictionaries({"source": _TEXT}) | st.just({"estimate": True, "why": "x"}),
            )
        ),
    }
    return ClusterSpec.model_validate({k: v for k, v in tables.items() if v is not None})
