"""Links inside a node, from the catalogue: NVLink generations, and buses such as PCIe and C2C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clusterscope.spec.parts import Part, catalogue, find_part


@dataclass(frozen=True, slots=True, kw_only=True)
class NvLink(Part):
    """A generation of NVLink; `links` at one GPU, the rate of a link in one direction."""

    year: int
    links: int
    link_gbps: float

    @property
    def gpu_gbps(self) -> float:
        """All links of a GPU together, one direction."""
        return self.links * self.link_gbps


@dataclass(frozen=True, slots=True, kw_only=True)
class Bus(Part):
    """A link between parts of a node, or of a CPU to its memory; one direction."""

    gbps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Host(Part):
    """What surrounds the GPUs of a node.

    Attributes:
        gpus: GPUs that come in such a node.
        cpus: CPUs, each with its memory.
        pcie_switches: PCIe switches, shared out over the CPUs; 0 when GPUs hang on the CPUs.
        gpu_bus: what joins a GPU, or a PCIe switch, to its CPU.
        gpu_buses: how many of these; below 1 when GPUs share one.
        nic_at: what a NIC hangs on: "switch", "cpu" or "gpu".
        nic_bus: what joins it.
        cpu_bus: what joins the CPUs, "" for one CPU.
        memory: what joins a CPU and its memory.
    """

    gpus: tuple[str, ...]
    cpus: int
    pcie_switches: int
    gpu_bus: str
    gpu_buses: float
    nic_at: str
    nic_bus: str
    cpu_bus: str
    memory: str


@cache
def host_of(gpu: str) -> Host:
    """What surrounds a GPU of that catalogue name; a two-socket server when nobody says."""
    return next((own for own in map(host, hosts()) if gpu in own.gpus), host(hosts()[0]))


@cache
def host(name: str) -> Host:
    """Surroundings by name."""
    return find_part(Host, "host", "host", name)


def hosts() -> tuple[str, ...]:
    """Names of all surroundings."""
    return tuple(catalogue()["host"])


@cache
def nvlink(name: str) -> NvLink:
    """Generation of NVLink by name."""
    return find_part(NvLink, "nvlink", "generation of NVLink", name)


@cache
def bus(name: str) -> Bus:
    """Bus by name."""
    return find_part(Bus, "bus", "bus", name)


def nvlinks() -> tuple[str, ...]:
    """Names of all generations of NVLink, oldest first."""
    return tuple(catalogue()["nvlink"])


def buses() -> tuple[str, ...]:
    """Names of all buses."""
    return tuple(catalogue()["bus"])
