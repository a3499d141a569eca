from __future__ import annotations

from clusterscope.export.headline import headlines, title
from tests.export import tricky_shapes as tricky


def test_a_job_is_told_in_words() -> None:
    first = headlines(tricky.report())[0]
    assert first.busbw == "371.0 GB/s"
    assert first.band == "330.0 to 371.0 GB/s"
    assert (first.iteration, first.share, first.ranks) == ("4.2 ms", "93.0 %", "100,000 ranks")


def test_a_stalled_job_is_called_that() -> None:
    facts = tricky.report()
    facts["jobs"][0] |= {"stalled": True, "error_band": [0.0, 0.0]}
    first = headlines(facts)[0]
    assert (first.iteration, first.band) == ("stalled", "")


def test_a_cluster_without_a_title_goes_by_its_name() -> None:
    assert title({"spec": {"name": "x", "title": ""}}) == "x"
