"""State that a NIC keeps for its connections, against what it holds on its chip.

    state = connections of the NIC x bytes of one

Beyond the chip's memory a packet waits for its connection's state to come over PCIe. Bulk transfers
stay on one connection for many packets, so this slows nothing here; it is told as a finding.

Source of the size of the memory: Kalia, Kaminsky, Andersen, *Datacenter RPCs can be General and
Fast*, NSDI 2019 (about 2 MB for connection state, 375 B a queue pair).
"""

from __future__ import annotations

from clusterscope.transport.model import Transport

CACHE_BYTES = 2_000_000


def state_bytes(connection_bytes: int | None, peers: int, each: int) -> int:
    """Bytes of state for connections to some peers; 0 for a transport that keeps none."""
    return (connection_bytes or 0) * peers * each


def spills(transport: Transport, peers: int) -> bool:
    """True when the connections of a NIC need more state than it holds."""
    return state_bytes(transport.connection_bytes, peers, sends(transport)) > CACHE_BYTES


def sends(transport: Transport) -> int:
    """Connections by which a NIC sends to one of many peers: of one channel unless set by hand."""
    return transport.qps * (transport.channels or 1)
