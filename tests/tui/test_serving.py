"""A service in the explorer: header, jobs pane, and what a dead node leaves of it."""

from __future__ import annotations

from clusterscope.engine.timeline import Timeline
from tests.small import scenario
from tests.tui.apps import CannedApp, driven, text_of

MODEL = {"layers": 4, "hidden": 512, "heads": 8, "sequence": 128, "vocabulary": 1024}
SERVE = {"prefill": {"gpus": 4, "instances": 2}, "decode": {"gpus": 8}}


async def test_a_service_shows_in_the_header_and_in_the_jobs_pane():
    job = {"name": "chat", "model": MODEL | {"experts": 8, "top_k": 2}, "serve": SERVE}
    transport = {"name": "infiniband", "reroute_s": 0.0}
    app = CannedApp(Timeline(scenario(jobs=[job], transport=transport)))
    async with driven(app, (140, 40)) as (press, _):
        assert "serving × 16 · model  TPOT" in text_of(app)
        await press("4")
        # Of a service tokens and their times come first, and busbw is further on.
        text = text_of(app)
        assert "without waiting in queues" in text
        assert "TTFT" in text
        await press("colon", *"fail node0", "enter")
        assert "1 instance stands still" in text_of(app)
