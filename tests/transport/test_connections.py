"""State of connections, against what a NIC holds."""

from __future__ import annotations

import dataclasses

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.findings import findings
from clusterscope.transport.connections import CACHE_BYTES, spills, state_bytes
from clusterscope.transport.model import resolve
from tests.small import job, scenario, spec


def test_state_is_connections_times_bytes():
    assert state_bytes(375, 1000, 4) == 1_500_000
    assert state_bytes(None, 10**6, 16) == 0


def test_many_peers_spill_and_few_do_not():
    iwarp = resolve(spec(transport={"name": "iwarp"}))
    most = CACHE_BYTES // 1024
    assert not spills(iwarp, most)
    assert spills(iwarp, most + 1)
    assert not spills(dataclasses.replace(iwarp, connection_bytes=None), 10**9)


def test_an_all_to_all_of_many_queue_pairs_is_told():
    def rules(name: str) -> set[str]:
        built = scenario(jobs=job("all-to-all"), transport={"name": name, "qps": 256})
        return {finding.rule for finding in findings(built, Timeline(built).at(0))}

    # 15 peers of 256 connections: 1.4 MB of 375 B each, 3.9 MB of 1024 B each.
    assert "connection-state" not in rules("rocev2")
    assert "connection-state" in rules("iwarp")
