"""`make screenshots`: pictures of the real presets for the README, made by the real explorer."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.spec.presets import load
from clusterscope.tui.app import ClusterScopeApp
from tests.tui.apps import settle

FOLDER = Path(__file__).parent.parent / "screenshots"
_EXCHANGE = ('jobs.0.name="exchange"', 'jobs.0.collective="all-to-all"', "sim.dt_s=0.5")
_PERMUTATION = ('jobs.0.name="permutation"', 'jobs.0.collective="permutation"', "sim.dt_s=1e-2")


@dataclass(frozen=True)
class Picture:
    """What is on a picture: a preset with settings, keys pressed, and how large it is."""

    preset: str
    keys: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 36)


def line(text: str) -> tuple[str, ...]:
    """Keys of a typed line."""
    return (*text, "enter")


PICTURES = {
    "explorer": Picture(
        "xai-colossus-100k",
        ("colon", *line("fail pod07/spine21"), "colon", *line("fail pod07/leaf12:u33"),
         "colon", *line("select pod07/leaf12"), "full_stop"),
        _EXCHANGE, (140, 40),
    ),
    "meta-ecmp": Picture("meta-24k-roce", ("full_stop",), _PERMUTATION),
    "nvl72-80x24": Picture("gb200-nvl72", ("2",), size=(80, 24)),
    "compare": Picture("meta-24k-roce", ("v",), size=(120, 40)),
    "tenants": Picture("ai-cloud", ("full_stop", "T")),
    "explain": Picture("ai-cloud", ("full_stop", "W")),
    "failures": Picture("ai-cloud", ("F", "slash", *line("2 random spines"))),
    "links": Picture("ai-cloud", ("full_stop", "L")),
    "jobs": Picture("llama3-16k", ("J", "down", "down", "down", "down", "down", "minus")),
    "inside": Picture("hgx-h200-nvswitch", ("I",)),
    "networks": Picture("gb200-superpod", ("M",)),
    "frontier": Picture("frontier", ("colon", *line("select group05"), "2")),
    "million": Picture("million", ("colon", *line("fail pod07/spine021"))),
    "serving": Picture(
        "deepseek-v3-serve", ("colon", *line("fail node03"), "full_stop", "4", "m"), (), (140, 40)
    ),
    "validation": Picture("hgx-h200-mesh", ("V", "slash", *line("TOPO"), "space", "down")),
}  # fmt: skip


def timeline(preset: str, settings: tuple[str, ...]) -> Timeline:
    """Timeline of a preset with some keys set."""
    return Timeline(build(load(preset, settings)))


async def settled(pilot: Pilot[None]) -> None:
    """Wait until every thread has answered that was not called off."""
    for _ in range(20):
        with suppress(WorkerCancelled):
            await settle(pilot)
            return


async def picture(shown: Picture) -> str:
    """SVG of the explorer after its keys were pressed."""
    build_it = partial(timeline, shown.preset, shown.settings)
    app = ClusterScopeApp(build_it, what=shown.preset)
    app.animation_level = "none"
    async with app.run_test(size=shown.size) as pilot:
        await settle(pilot)
        for key in shown.keys:
            app.simulate_key(key)
            # What a letter of a line changes is not worth waiting for.
            await (pilot.pause() if key.isalnum() and len(key) == 1 else settled(pilot))
        await settled(pilot)
        app.clear_notifications()
        await settle(pilot)
        if app.mistake is not None:
            raise app.mistake
        svg = app.export_screenshot(title=f"clusterscope {shown.preset}")
    return re.sub(r"terminal-\d+", "terminal", svg)


def main(names: Sequence[str] = ()) -> None:
    """Make every picture, or those that are named."""
    os.environ["TERM"] = "xterm-256color"
    FOLDER.mkdir(exist_ok=True)
    for name in names or PICTURES:
        begin = time.perf_counter()
        (FOLDER / f"{name}.svg").write_text(asyncio.run(picture(PICTURES[name])))
        print(f"screenshots/{name}.svg  {time.perf_counter() - begin:.1f} s")  # noqa: T201 - it is a script


if __name__ == "__main__":
    main(sys.argv[1:])
