"""Which links a line of words means.

    pod07  leaf12  node00448  pod07/leaf12  leaf  node5/nic3     links that touch what is called so
    nic-leaf  leaf-spine  spine-core  scale-up                   links of a tier
    >0.9  <10%  peak>0.95  load>300  flows>4                     numbers; bare ones are utilization
    up  slow  down                                               state
    tx  rx                                                       direction: away from the GPUs, back

All words have to hold. A name is read as numbers, never looked for in text, so a million links
cost no more than the arrays that say what is cabled to what.
"""

from __future__ import annotations

import re

import numpy as np

from clusterscope.columns import Bool
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.arrays import Fabric
from clusterscope.views.all_links import STATES, LinkTable
from clusterscope.views.inspector import links_of

HINT = "pod07 leaf12 >0.9 slow leaf-spine rx …"
_ELSE = "or >0.9, slow, rx"
_NUMBER = re.compile(r"(util|peak|load|capacity|flows)?([<>]=?)([0-9]*\.?[0-9]+)(%?)")
_PART = re.compile(r"(pod|plane|leaf|spine|core|node|gpu|nic|p|domain|group)([0-9]{0,9})")
_COMPARE = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
_DIRECTIONS = ("tx", "rx")
Numbers = dict[str, np.ndarray]  # number after each word in a name, -1 where it has none


def matching(scenario: Scenario, links: LinkTable, line: str) -> Bool | None:
    """Links for which every word of a line holds, (L,); None, for all, when there is no word.

    Raises:
        SpecError: a word is no name, tier, state, direction or comparison.
    """
    keep: Bool | None = None
    for word in line.casefold().split():
        found = _word(scenario, links, word)
        keep = found if keep is None else keep & found
    return keep


def _word(scenario: Scenario, links: LinkTable, word: str) -> Bool:
    """Links for which one word holds, (L,)."""
    fabric = scenario.fabric
    if word in fabric.tier_names:
        return np.repeat(fabric.cable_tier == fabric.tier_names.index(word), 2)
    if word in STATES:
        state: Bool = links.state == STATES.index(word)
        return state
    if word in _DIRECTIONS:
        way: Bool = np.arange(fabric.links) % 2 == _DIRECTIONS.index(word)
        return way
    if match := _NUMBER.fullmatch(word):
        return _compared(links, match)
    return _touching(scenario, word)


def _compared(links: LinkTable, match: re.Match[str]) -> Bool:
    """Links whose number is above or below another; dead ones have no utilization."""
    column, sign, digits, percent = match.groups()
    values: np.ndarray = getattr(links, column or "util")
    found: Bool = _COMPARE[sign](values, float(digits) / (100 if percent else 1))
    return found


def _touching(scenario: Scenario, word: str) -> Bool:
    """Links that touch whatever bears a name, or a part of one."""
    touched = np.zeros(scenario.fabric.links, dtype=np.bool_)
    try:
        touched[links_of(scenario, scenario.names.find(word))] = True
    except UnknownNameError as error:
        vertices = _vertices(scenario, word)
        if vertices is None or not vertices.any():
            hint = _ELSE if vertices is None else ""
            raise SpecError("filter", str(error), hint) from error
        ends = vertices[scenario.fabric.cable_a] | vertices[scenario.fabric.cable_b]
        return np.repeat(ends, 2)
    return touched


def _vertices(scenario: Scenario, word: str) -> Bool | None:
    """Vertices with a part of a name, (V,); None when that is no part of any name."""
    parts: dict[str, int | None] = {}
    for piece in word.split("/"):
        match = _PART.fullmatch(piece)
        if match is None or match[1] in parts:
            return None
        parts[match[1]] = int(match[2]) if match[2] else None
    fabric = scenario.fabric
    return np.concatenate(
        [
            _holding(parts, _of_ports(fabric), fabric.ports),
            _holding(parts, _of_switches(scenario, parts), fabric.switches),
            _holding(parts, _of_gpus(fabric), fabric.gpus),
            _holding(parts, {"domain": np.arange(fabric.domains, dtype=np.int32)}, fabric.domains),
            _holding(parts, _of_groups(fabric), fabric.groups),
        ]
    )


def _of_groups(fabric: Fabric) -> Numbers:
    """Numbers in the names of first-level groups of scale-up domains."""
    domain, group = np.divmod(np.arange(fabric.groups), max(1, fabric.shape.groups))
    return {"domain": domain, "group": group}


def _holding(parts: dict[str, int | None], numbers: Numbers, count: int) -> Bool:
    """Vertices that have every part, with its number where one is given; -1 has none."""
    keep = np.ones(count, dtype=np.bool_)
    for part, number in parts.items():
        if part not in numbers:
            return np.zeros(count, dtype=np.bool_)
        keep &= numbers[part] >= 0 if number is None else numbers[part] == number
    return keep


def _of_ports(fabric: Fabric) -> Numbers:
    """Numbers in the name of every NIC port, (N,) each."""
    port = np.arange(fabric.ports, dtype=np.int32)
    nic, plane = np.divmod(port, fabric.ports_per_nic)
    numbers = {"node": fabric.port_node(port), "nic": nic % max(1, fabric.nics_per_node)}
    return {**numbers, "p": plane} if fabric.ports_per_nic > 1 else numbers


def _of_gpus(fabric: Fabric) -> Numbers:
    """Numbers in the name of every GPU, (G,) each."""
    node, local = np.divmod(np.arange(fabric.gpus, dtype=np.int32), fabric.gpus_per_node)
    return {"node": node, "gpu": local}


def _of_switches(scenario: Scenario, parts: dict[str, int | None]) -> Numbers:
    """Numbers in the name of every switch, (S,) each; -1 where its name has no such part."""
    fabric, names = scenario.fabric, scenario.names
    numbers = {fabric.pod_word: fabric.switch_pod, "plane": fabric.switch_plane}
    for tier, word in enumerate(fabric.switch_words, start=1):
        if word in parts:
            number = np.full(fabric.switches, -1, dtype=np.int32)
            for pod in range(1 if tier == 3 else fabric.pods):
                for plane in range(names.planes):
                    family = names.family(tier, pod, plane)
                    if family is not None:
                        own = slice(family.first, family.first + family.count)
                        number[own] = np.arange(family.count)
            numbers[word] = number
    return numbers
