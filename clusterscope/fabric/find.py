"""Name to thing: reads what `Names` writes, and says what is there when a name is not.

Two kinds of mistakes are told apart: a name of a known form with a number out of range is answered
with the range, anything else with a name that exists, made from the words and numbers typed.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.fabric.geometry import AXES, BACK, FORWARD, geometry, steps
from clusterscope.fabric.scaleup import cables_at, uplink_of
from clusterscope.fabric.things import Thing
from clusterscope.spec.shape import Shape

if TYPE_CHECKING:
    from clusterscope.fabric.names import Names

_N = "([0-9]{1,9})"
_NODE = re.compile(rf"node{_N}(?:/(gpu|nic){_N}(?:/p{_N})?)?")
_SWITCH = re.compile(rf"(?:(?:pod|group){_N}/)?(?:plane{_N}/)?(leaf|switch|spine|core){_N}")
_COUNTED = re.compile(rf"(pod|group|domain){_N}")
_SPINES = re.compile(rf"(?:pod{_N}/)?spines")
_GROUP = re.compile(rf"domain{_N}/group{_N}")
_CABLE = re.compile(rf"(.+):(?:[ulg]{_N}|(nv|[{AXES}][+-]|m{_N}))")
_TOKEN = re.compile(r"([a-z]+)[ _.-]*([0-9]{0,9})")
_WORDS = ("node", "gpu", "nic", "pod", "plane", "leaf", "spine", "core", "domain")
_DRAGONFLY_WORDS = ("node", "gpu", "nic", "group", "switch", "domain")
_PLURALS = {
    "u": "uplinks",
    "l": "local cables",
    "g": "global cables",
    "switch": "switches",
    "p": "NIC ports",
    "nv": "scale-up cables",
    "leaf": "leaves",
    "gpu": "GPUs",
    "nic": "NICs",
}


def find(names: Names, name: str) -> Thing:
    """Thing of that name; padding of numbers and upper or lower case do not matter.

    Raises:
        UnknownNameError: nothing is called that.
    """
    return _Search(names, names.fabric, name).thing()


@dataclass(frozen=True)
class _Search:
    """A search for one name as typed."""

    names: Names
    fabric: Fabric
    name: str

    def thing(self) -> Thing:
        """The thing, of any kind."""
        text = self.name.casefold()
        if text[-1:] in ("<", ">"):
            return Thing("link", 2 * self._cable(text[:-1]) + (text[-1] == "<"))
        if ":" in text:
            return Thing("cable", self._cable(text))
        if text == "cluster":
            return Thing("cluster")
        if text == "cores":
            self._number("core", "0", len(self.fabric.switches_of(3)))
            return Thing("cores")
        if text == "domains":
            self._number("domain", "0", self.fabric.domains)
            return Thing("domains")
        if match := _SPINES.fullmatch(text):
            return self._spines(match)
        return self._device(text)

    def _spines(self, match: re.Match[str]) -> Thing:
        """The spines of a pod, if there are any."""
        if (match[1] is not None) != self.names.pods_named:
            raise self._unknown()
        self._number("spine", "0", len(self.fabric.switches_of(2)))
        return Thing("spines", self._number("pod", match[1] or "0", self.fabric.pods))

    def _device(self, text: str) -> Thing:
        """Pod, domain, node, GPU, NIC port or switch."""
        if match := _COUNTED.fullmatch(text):
            word = self.fabric.pod_word
            if match[1] == word:
                return Thing("pod", self._number(word, match[2], self.fabric.pods))
            if match[1] != "domain":
                raise self._unknown()
            return Thing("domain", self._number("domain", match[2], self.fabric.domains))
        if match := _GROUP.fullmatch(text):
            groups = self.fabric.shape.groups
            domain = self._number("domain", match[1], self.fabric.domains)
            return Thing("subdomain", domain * groups + self._number("group", match[2], groups))
        if match := _NODE.fullmatch(text):
            return self._in_node(match)
        if match := _SWITCH.fullmatch(text):
            return self._switch(match)
        raise self._unknown()

    def _in_node(self, match: re.Match[str]) -> Thing:
        """Node, or a GPU or NIC port of it."""
        fabric = self.fabric
        node = self._number("node", match[1], fabric.nodes)
        if match[2] is None:
            return Thing("node", node)
        if match[2] == "gpu":
            if match[4] is not None:
                raise self._unknown()
            local = self._number("gpu", match[3], fabric.gpus_per_node)
            return Thing("gpu", node * fabric.gpus_per_node + local)
        nic = self._number("nic", match[3], fabric.nics_per_node)
        if (match[4] is None) != (fabric.ports_per_nic == 1):
            raise self._unknown()
        plane = self._number("p", match[4] or "0", fabric.ports_per_nic)
        return Thing("nic", (node * fabric.nics_per_node + nic) * fabric.ports_per_nic + plane)

    def _switch(self, match: re.Match[str]) -> Thing:
        """Switch, by exactly the numbers that names of this fabric carry."""
        names, words, pod_word = self.names, self.fabric.switch_words, self.fabric.pod_word
        if match[3] not in words or (match[1] and not match[0].startswith(pod_word)):
            raise self._unknown()
        tier = words.index(match[3]) + 1
        with_pod = names.pods_named and tier < 3
        if (match[1] is not None) != with_pod or (match[2] is not None) != (names.planes > 1):
            raise self._unknown()
        pod = self._number(pod_word, match[1] or "0", self.fabric.pods)
        plane = self._number("plane", match[2] or "0", names.planes)
        family = names.family(tier, pod, plane)
        index = self._number(match[3], match[4], family.count if family else 0)
        return Thing("switch", (family.first if family else 0) + index)

    def _cable(self, text: str) -> int:
        """Cable, by its lower end and the port there."""
        match = _CABLE.fullmatch(text)
        if match is None:
            raise self._unknown()
        fabric, end = self.fabric, self._device(match[1])
        inside = end.kind in ("gpu", "subdomain")
        if not (inside or end.kind in ("nic", "switch")) or inside != bool(match[3]):
            raise self._unknown()
        if end.kind == "subdomain":
            if match[3] != "nv":
                raise self._unknown()
            return uplink_of(fabric, end.index)
        if end.kind == "gpu":
            return self._gpu_cable(end.index, match[3], match[4])
        if end.kind == "nic":
            return end.index + self._number("u", match[2], 1)
        letter = text.rpartition(":")[2][0]
        if letter not in fabric.port_letters:
            raise self._unknown()
        start = fabric.global_start if letter == "g" else fabric.up_start
        low, high = (int(cable) for cable in start[end.index : end.index + 2])
        return low + self._number(letter, match[2], high - low)

    def _gpu_cable(self, gpu: int, port: str, far: str | None) -> int:
        """Scale-up cable of a GPU, by the port: "nv", "x+", or "m3" to GPU `far` = "3"."""
        fabric, shape = self.fabric, self.fabric.shape
        if not shape.direct:
            if port != "nv":
                raise self._unknown()
            self._number("nv", "0", int(fabric.gpu_domain[gpu] >= 0))
            return int(cables_at(fabric, np.array([gpu]))[0, 0])
        domain, place = divmod(gpu, shape.size)
        local = -1
        if shape.kind == "mesh" and far is not None:
            other = self._number("m", far, shape.size)
            local = _pair_cable(shape, place, other)
        elif shape.kind == "torus" and far is None and port != "nv":
            axis, way = AXES.index(port[0]), BACK if port[1] == "-" else FORWARD
            if axis < len(shape.dims):
                local = int(steps(shape).link[place, axis, way]) >> 1
        if local < 0:
            raise self._unknown()
        return int(fabric.tier_start[SCALE_UP]) + domain * shape.cables + local

    def _number(self, word: str, digits: str, count: int) -> int:
        """The number after a word.

        Raises:
            UnknownNameError: it is not below `count`.
        """
        if int(digits) < count:
            return int(digits)
        width = len(str(max(count - 1, 0)))
        span = f"{word}{0:0{width}d} to {word}{count - 1}" if count else "none"
        hint = f"{_PLURALS.get(word, word + 's')} there: {span}"
        raise UnknownNameError("thing", self.name, hint=hint)

    def _unknown(self) -> UnknownNameError:
        """The error for a name of no form that is used here."""
        near = self._nearest()
        return UnknownNameError("thing", self.name, (near,), hint=f"names look like {near!r}")

    def _nearest(self) -> str:
        """A name that exists, from the words and numbers of the one that does not."""
        names, fabric = self.names, self.fabric
        words = _DRAGONFLY_WORDS if fabric.dragonfly else _WORDS
        typed: dict[str, int] = {}
        for word, digits in _TOKEN.findall(self.name.casefold()[:200]):
            for known in difflib.get_close_matches(word, words, n=1, cutoff=0.6):
                typed[known] = int(digits or 0)

        def number(word: str, count: int) -> int:
            return min(typed.get(word, 0), max(count - 1, 0))

        pod, plane = number(fabric.pod_word, fabric.pods), number("plane", names.planes)
        for tier, word in enumerate(fabric.switch_words, start=1):
            family = names.family(tier, pod, plane)
            if word in typed and family:
                return names.member(family, number(word, family.count))
        node = number("node", fabric.nodes)
        if "nic" in typed and fabric.ports:
            nic = node * fabric.nics_per_node + number("nic", fabric.nics_per_node)
            return names.nic(nic * fabric.ports_per_nic)
        if "gpu" in typed:
            return names.gpu(node * fabric.gpus_per_node + number("gpu", fabric.gpus_per_node))
        if "domain" in typed and fabric.domains:
            return names.domain(number("domain", fabric.domains))
        return (
            names.pod(pod) if fabric.pod_word in typed and "node" not in typed else names.node(node)
        )


def _pair_cable(shape: Shape, place: int, other: int) -> int:
    """Cable of a mesh between two places, -1 from a place to itself."""
    if place == other:
        return -1
    mine, theirs = (set(geometry(shape).at[p].tolist()) for p in (place, other))
    return int((mine & theirs).pop())
