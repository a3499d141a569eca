"""`make screenshots`: pictures of the real presets for the README, made by the real explorer."""

from __future__ import annotations

import asyncio
import os
import re
from functools import partial
from pathlib import Path

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.spec.presets import load
from clusterscope.tui.app import ClusterScopeApp
from tests.tui.apps import settle

FOLDER = Path(__file__).parent.parent / "screenshots"
# picture: preset, settings, size, keys
PICTURES = {
    "explorer": (
        "xai-colossus-100k",
        ('jobs.0.name="exchange"', 'jobs.0.collective="all-to-all"', "sim.dt_s=0.5"),
        (140, 40),
        ("colon", *"fail pod07/spine21", "enter", "colon", *"fail pod07/leaf12:u33", "enter",
         "colon", *"select pod07/leaf12", "enter", "full_stop"),
    ),
    "meta-ecmp": (
        "meta-24k-roce",
        ('jobs.0.name="permutation"', 'jobs.0.collective="permutation"', "sim.dt_s=1e-2"),
        (120, 36),
        ("full_stop",),
    ),
    "nvl72-80x24": ("gb200-nvl72", (), (80, 24), ("2",)),
}  # fmt: skip


def timeline(preset: str, settings: tuple[str, ...]) -> Timeline:
    """Timeline of a preset with some keys set."""
    return Timeline(build(load(preset, settings)))


async def picture(name: str) -> str:
    """SVG of the explorer after its keys were pressed."""
    preset, settings, size, keys = PICTURES[name]
    app = ClusterScopeApp(partial(timeline, preset, settings), what=preset)
    app.animation_level = "none"
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            if key == "enter":
                await settle(pilot)
        await settle(pilot)
        svg = app.export_screenshot(title=f"clusterscope {preset}")
    return re.sub(r"terminal-\d+", "terminal", svg)


def main() -> None:
    """Make every picture."""
    os.environ["TERM"] = "xterm-256color"
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(asyncio.run(picture(name)))
        print(f"screenshots/{name}.svg")  # noqa: T201 - it is a script


if __name__ == "__main__":
    main()
