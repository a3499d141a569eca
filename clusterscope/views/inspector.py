"""One thing up close: what it is, how loaded, who uses it, and why it is hot."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SWITCH_TIERS
from clusterscope.fabric.geometry import AXES, steps
from clusterscope.fabric.scaleup import thing_cables
from clusterscope.fabric.things import Thing
from clusterscope.metrics.links import peak_utilization
from clusterscope.metrics.memo import per_frame
from clusterscope.metrics.users import flows_on, users_of
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ScaleUpSpec
from clusterscope.spec.shape import cable_gbps
from clusterscope.units import counted
from clusterscope.views.focus import cables_of_switch, leaving
from clusterscope.views.origin import part_fact, spec_fact
from clusterscope.views.reason import flow_words, reasons
from clusterscope.views.serving import role
from clusterscope.views.shapes import Fact, Note
from clusterscope.views.slots import letter
from clusterscope.views.text import fmt, sanitize
from clusterscope.views.tree import detail_of, state_of

# Links of a large group that are asked for their jobs: the hottest ones.
_ASKED = 64
# Phases on a cable that are listed.
_USES = 8


def inspector(scenario: Scenario, frame: Frame, thing: Thing | None) -> Note:
    """Facts about the selection, with sources, and a sentence on why it is hot."""
    thing = thing or Thing("cluster")
    kept = _kept(scenario, frame)
    if thing not in kept:
        kept[thing] = _inspect(scenario, frame, thing)
    return kept[thing]


@per_frame
def _kept(scenario: Scenario, frame: Frame) -> dict[Thing, Note]:  # noqa: ARG001 - the keys
    """Notes on the things of a frame that were asked for."""
    return {}


def _inspect(scenario: Scenario, frame: Frame, thing: Thing) -> Note:
    links = links_of(scenario, thing)
    level, down = state_of(scenario, frame, thing)
    peak = peak_utilization(frame.network)[links]
    facts = [
        *_identity(scenario, thing),
        *_load(scenario, frame, thing, links),
        Fact("worst now", level, "ratio"),
        Fact("worst in any phase", _top(peak), "ratio", "derived"),
        Fact("dead cables", down, "int"),
        *_speed(frame, thing),
        Fact("jobs", _jobs(scenario, frame, thing, links, peak)),
        *(_used_by(scenario, frame, links) if len(links) <= 2 else []),
    ]
    name = scenario.spec.name if thing.kind == "cluster" else scenario.names.thing(thing)
    return Note(sanitize(name), tuple(facts), reasons(scenario, frame, thing, links, peak))


def _speed(frame: Frame, thing: Thing) -> list[Fact]:
    """How fast slow GPUs are."""
    if thing.kind not in ("gpu", "node"):
        return []
    slowest = float(frame.health.speeds(thing.index, whole_node=thing.kind == "node").min())
    return [Fact("computes at", slowest, "ratio", "", "of its speed")] if slowest < 1 else []


def links_of(scenario: Scenario, thing: Thing) -> I32:
    """Directed links of a thing: all that end at it, or inside a group, (n,)."""
    fabric = scenario.fabric
    match thing.kind:
        case "link":
            return np.array([thing.index], dtype=np.int32)
        case "cable" | "nic":
            return _both(np.array([thing.index], dtype=np.int32))
        case "gpu":
            return _pairs(leaving(fabric, thing.index))
        case "node":
            per_node = fabric.ports // fabric.nodes
            nic = np.arange(thing.index * per_node, (thing.index + 1) * per_node, dtype=np.int32)
            return _both(np.concatenate([nic, thing_cables(fabric, thing)]))
        case "switch":
            return _both(np.concatenate(cables_of_switch(scenario, thing.index)))
        case "domain" | "subdomain":
            return _both(thing_cables(fabric, thing))
        case "pod" | "spines" | "cores":
            return _both(_switch_cables(scenario, thing))
        case "domains":
            start = 2 * int(fabric.tier_start[SCALE_UP])
            return np.arange(start, fabric.links, dtype=np.int32)
        case _:
            return np.arange(fabric.links, dtype=np.int32)


def _both(cables: I32) -> I32:
    """Both links of cables: up, down, up, down, ..."""
    links: I32 = (2 * np.repeat(cables, 2)).astype(np.int32)
    links[1::2] += 1
    return links


def _pairs(links: I32) -> I32:
    """Links and their ways back: first, back, second, back, ..."""
    both = np.repeat(links, 2)
    both[1::2] ^= 1
    return both


def _switch_cables(scenario: Scenario, thing: Thing) -> I32:
    """Cables that end at a switch of a pod, of its spines, or at a core."""
    fabric = scenario.fabric
    wanted = fabric.switch_pod == (-1 if thing.kind == "cores" else thing.index)
    if thing.kind == "spines":
        wanted &= fabric.switch_tier == 2
    end = int(fabric.tier_start[SCALE_UP])
    runs = np.flatnonzero(np.diff(wanted, prepend=False, append=False)).reshape(-1, 2)
    own = np.zeros(end, dtype=np.bool_)
    # A run a tier as a rule: comparing with its ends beats looking every cable's switch up.
    for low, high in (runs + fabric.ports).tolist():
        own |= (fabric.cable_b[:end] >= low) & (fabric.cable_b[:end] < high)
        above = fabric.cable_a[fabric.ports : end]
        own[fabric.ports :] |= (above >= low) & (above < high)
    return np.flatnonzero(own).astype(np.int32)


def _identity(scenario: Scenario, thing: Thing) -> list[Fact]:
    """What a thing is."""
    match thing.kind:
        case "switch":
            return _switch(scenario, thing.index)
        case "nic":
            return _nic(scenario, thing.index)
        case "gpu":
            return _gpu(scenario, thing.index)
        case "node":
            return _node(scenario, thing.index)
        case "cable" | "link":
            return _cable(scenario, thing)
        case _:
            words = {"pod": scenario.fabric.pod_word, "subdomain": "group of a scale-up domain"}
            kind = words.get(thing.kind, thing.kind)
            return [Fact("kind", kind), Fact("has", detail_of(scenario.fabric, thing))]


def _switch(scenario: Scenario, switch: int) -> list[Fact]:
    """Part, place and ports of a switch."""
    fabric, spec, plan = scenario.fabric, scenario.spec, derive(scenario.spec)
    tier = int(fabric.switch_tier[switch])
    facts = [Fact("kind", fabric.switch_words[tier - 1])]
    if plan is not None:
        name = (plan.leaf_switch, plan.spine_switch, plan.core_switch)[tier - 1]
        part, key = parts.switch(name), f"scale_out.{SWITCH_TIERS[tier - 1]}_switch"
        key = "dragonfly.switch" if fabric.dragonfly else key
        facts.append(spec_fact(spec, key, "part", part.title))
        facts.append(part_fact(part, "latency_s", "latency", part.latency_s, "seconds"))
        facts.append(part_fact(part, "power_w", "power", part.power_w, "watts"))
        facts.append(part_fact(part, "price_usd", "price", part.price_usd, "usd"))
    if fabric.switch_pod[switch] >= 0 and fabric.pods > 1:
        facts.append(Fact(fabric.pod_word, scenario.names.pod(int(fabric.switch_pod[switch]))))
    if scenario.names.planes > 1:
        facts.append(Fact("plane", int(fabric.switch_plane[switch]), "int"))
    if fabric.switch_rail[switch] >= 0:
        facts.append(Fact("rail", int(fabric.switch_rail[switch]), "int"))
    below, above = cables_of_switch(scenario, switch)
    if fabric.dragonfly:
        local = int((fabric.cable_tier[above] == LEAF_SPINE).sum())
        facts.append(Fact("NIC cables", len(below), "int", "derived"))
        facts.append(Fact("local cables", local, "int", "derived"))
        facts.append(Fact("global cables", len(above) - local, "int", "derived"))
        return facts
    facts.append(Fact("cables down", len(below), "int", "derived"))
    facts.append(Fact("cables up", len(above), "int", "derived"))
    return facts


def _nic(scenario: Scenario, port: int) -> list[Fact]:
    """Part, leaf and rate of a NIC port."""
    fabric, spec = scenario.fabric, scenario.spec
    part = parts.nic(spec.node.nic)
    return [
        Fact("kind", "NIC port"),
        spec_fact(spec, "node.nic", "part", part.title),
        spec_fact(spec, "node.nic_gbps", "rate", float(fabric.cable_gbps[port]), "gbps"),
        Fact(fabric.switch_words[0], scenario.names.switch(int(fabric.port_leaf[port]))),
        part_fact(part, "latency_s", "latency", part.latency_s, "seconds"),
        part_fact(part, "power_w", "power", part.power_w, "watts"),
    ]


def _gpu(scenario: Scenario, gpu: int) -> list[Fact]:
    """Part, domain and NIC of a GPU."""
    fabric, spec = scenario.fabric, scenario.spec
    part = parts.gpu(spec.node.gpu)
    facts = [
        spec_fact(spec, "node.gpu", "part", part.title),
        part_fact(part, "bf16_tflops", "dense BF16, TFLOPS", part.bf16_tflops, "float"),
        part_fact(part, "tdp_w", "power", part.tdp_w, "watts"),
    ]
    if fabric.gpu_domain[gpu] >= 0 and spec.scale_up is not None:
        facts.append(Fact("domain", scenario.names.domain(int(fabric.gpu_domain[gpu]))))
        rate = spec.scale_up.gpu_gbps
        facts.append(spec_fact(spec, "scale_up.gpu_gbps", "scale-up", rate, "gbps"))
        facts += _inside(scenario, gpu, spec.scale_up)
    if fabric.gpu_nic_port[gpu] >= 0:
        facts.append(Fact("NIC", scenario.names.nic(int(fabric.gpu_nic_port[gpu]))))
    return facts


def _inside(scenario: Scenario, gpu: int, up: ScaleUpSpec) -> list[Fact]:
    """How a GPU hangs in a domain that is more than one switch."""
    fabric, shape = scenario.fabric, scenario.fabric.shape
    if shape.kind == "switched":
        return []
    facts = [spec_fact(scenario.spec, "scale_up.topology", "topology", up.topology)]
    if shape.kind == "two-level":
        return [*facts, Fact("group", scenario.names.subdomain(gpu // shape.group))]
    own = thing_cables(fabric, Thing("gpu", gpu))
    if shape.kind == "torus":
        where = steps(shape).coordinate[gpu % shape.size].tolist()
        facts.append(
            Fact("place", ", ".join(f"{a} {c}" for a, c in zip(AXES, where, strict=False)))
        )
    rate = fmt(cable_gbps(up), "gbps")
    return [*facts, Fact("cables to GPUs", f"{len(own)} of {rate} each way", "text", "derived")]


def _node(scenario: Scenario, node: int) -> list[Fact]:
    """What is in a node, and its leaves."""
    fabric, spec = scenario.fabric, scenario.spec
    facts = [
        Fact("kind", "node"),
        spec_fact(spec, "node.gpus", "GPUs", f"{spec.node.gpus} {spec.node.gpu}"),
    ]
    per_node = fabric.ports // fabric.nodes
    if per_node:
        facts.append(spec_fact(spec, "node.nics", "NICs", f"{spec.node.nics} {spec.node.nic}"))
        own = np.unique(fabric.port_leaf[node * per_node : (node + 1) * per_node])
        names = [scenario.names.switch(leaf) for leaf in own.tolist()]
        facts.append(Fact("switches" if fabric.dragonfly else "leaves", ", ".join(names)))
    return facts


def _cable(scenario: Scenario, thing: Thing) -> list[Fact]:
    """Ends and rate of a cable, or of one direction of it."""
    fabric, names = scenario.fabric, scenario.names
    cable = thing.index >> 1 if thing.kind == "link" else thing.index
    ends = [int(fabric.cable_a[cable]), int(fabric.cable_b[cable])]
    if thing.kind == "link" and thing.index & 1:
        ends.reverse()
    low, high = (names.thing(names.of_vertex(end)) for end in ends)
    tier = int(fabric.cable_tier[cable])
    between = "dragonfly.link_gbps" if fabric.dragonfly else "scale_out.link_gbps"
    key = ("node.nic_gbps", between, between, "scale_up.gpu_gbps")[tier]
    if tier == SCALE_UP:
        key = _scale_up_key(scenario, cable)
    rate = float(fabric.cable_gbps[cable])
    return [
        Fact("kind", f"{fabric.tier_names[tier]} {thing.kind}"),
        Fact("from" if thing.kind == "link" else "lower end", low),
        Fact("to" if thing.kind == "link" else "upper end", high),
        spec_fact(scenario.spec, key, "line rate", rate, "gbps"),
    ]


def _scale_up_key(scenario: Scenario, cable: int) -> str:
    """Key of the spec that a scale-up cable's rate comes from."""
    up, fabric = scenario.spec.scale_up, scenario.fabric
    if up is not None and fabric.shape.direct and up.link_gbps:
        return "scale_up.link_gbps"
    if up is not None and up.group_gbps and int(fabric.cable_a[cable]) >= fabric.group_vertex:
        return "scale_up.group_gbps"
    return "scale_up.gpu_gbps"


# What passes the lowest switches that a thing has, by the tier below these.
_PASSING = (
    ("NICs send", "NICs receive"),
    ("from leaves", "to leaves"),
    ("from spines", "to spines"),
)


def _load(scenario: Scenario, frame: Frame, thing: Thing, links: I32) -> list[Fact]:
    """Load of a cable up and down; of more than that what is sent and received, each byte once."""
    if len(links) > 2:
        return _passing(scenario, frame, thing, links)
    facts = []
    for label, way in (("load up", 0), ("load down", 1)):
        own = _way(links, way)
        if len(own):
            facts.append(Fact(label, float(frame.link_gbps[own].sum()), "gbps"))
    now = float(frame.network.link_gbps[links].max(initial=0))
    return [*facts, Fact("carries now", now, "gbps")]


def _passing(scenario: Scenario, frame: Frame, thing: Thing, links: I32) -> list[Fact]:
    """What is sent over the lowest tier of many links, and apart from that inside domains."""
    fabric, low, size = scenario.fabric, int(links[0]), len(links)
    whole = size == int(links[-1]) - low + 1
    level = frame.link_gbps[low : low + size] if whole else frame.link_gbps[links]
    ends = np.searchsorted(links[0::2], 2 * fabric.tier_start[: SCALE_UP + 1]).tolist()
    facts = []
    for tier, labels in enumerate(_PASSING):
        if ends[tier] < ends[tier + 1]:
            flat = bool(fabric.dragonfly) and tier > 0
            for way, label in enumerate(("load up", "load down") if flat else labels):
                own = level[way::2][ends[tier] : ends[tier + 1]]
                facts.append(Fact(label, float(own.sum()), "gbps"))
            break
    inside, cables = level[2 * ends[SCALE_UP] :], links[2 * ends[SCALE_UP] :: 2] >> 1
    if not len(inside):
        return facts
    if fabric.shape.direct and thing.kind != "gpu":
        return [*facts, Fact("scale-up carries", float(inside.sum()), "gbps")]
    gpus = fabric.cable_a[cables] < fabric.group_vertex if fabric.shape.groups > 1 else slice(None)
    for way, label in enumerate(("scale-up sends", "scale-up receives")):
        facts.append(Fact(label, float(inside[way::2][gpus].sum()), "gbps"))
    return facts


def _way(links: I32, down: int) -> I32:
    """Those that lead up (0) or down (1); several links are pairs of up and down."""
    way: I32 = links[links & 1 == down] if len(links) == 1 else links[down::2]
    return way


def _top(peak: F64) -> float:
    """Worst of some links; nan when all are dead."""
    return float(np.fmax.reduce(peak, initial=np.nan))


def _jobs(scenario: Scenario, frame: Frame, thing: Thing, links: I32, peak: F64) -> str:
    """Jobs that use a thing, by name, with their ranks on a node or GPU."""
    if thing.kind in ("gpu", "node"):
        return _ranks(scenario, thing)
    if thing.kind == "cluster":
        return sanitize(", ".join(job.name for job in scenario.program)) or "none"
    asked = links
    if len(links) > _ASKED:
        level = np.where(np.isnan(peak), -1.0, peak)
        asked = links[np.argpartition(level, len(level) - _ASKED)[-_ASKED:]]
    found = sorted({job for own in users_of(scenario, frame, asked) for job in own})
    return sanitize(", ".join(scenario.program[job].name for job in found)) or "none"


def _used_by(scenario: Scenario, frame: Frame, links: I32) -> list[Fact]:
    """Flows of every job and phase on a cable or link, heaviest first."""
    found = []
    for link in links.tolist():
        way = ("down" if link & 1 else "up") if len(links) > 1 else ""
        found += [(use, way) for use in flows_on(scenario, frame, link)]
    found.sort(key=lambda row: -row[0].gbps)
    facts: list[Fact] = []
    for use, way in found[:_USES]:
        job = scenario.program[use.job]
        words = f"{flow_words(scenario, use)} {way}".strip()
        mark = f"{letter(use.job)} " if len(scenario.program) > 1 else ""
        phase = sanitize(f"{mark}{job.name}, {job.phases[use.phase].name}")
        label = "" if facts else "used by"
        facts.append(Fact(label, f"{phase}: {words}, {fmt(use.gbps, 'gbps')}"))
    left = len(found) - len(facts)
    return facts + ([Fact("", f"and {counted(left, 'more phase')}")] if left else [])


def _ranks(scenario: Scenario, thing: Thing) -> str:
    """Jobs with ranks on a GPU, or on the GPUs of a node."""
    size = 1 if thing.kind == "gpu" else scenario.fabric.gpus_per_node
    low = thing.index * size
    words = []
    for job in scenario.program:
        ranks = np.flatnonzero((job.gpus >= low) & (job.gpus < low + size))
        if len(ranks) == 1:
            words.append(f"{job.name} rank {ranks[0]:,}{role(job, int(ranks[0]))}")
        elif len(ranks):
            first = int(ranks[0])
            words.append(
                f"{job.name} {counted(len(ranks), 'rank')} from {first:,}{role(job, first)}"
            )
    return sanitize(", ".join(words)) or "none"
