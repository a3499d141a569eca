"""Docs tell the truth: every command, preset, picture and array is there."""

from __future__ import annotations

import re
from pathlib import Path

from clusterscope import cli
from clusterscope.spec import parts, presets
from tests import data_model

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
MODEL = (ROOT / "docs" / "model.md").read_text()


def test_every_command_and_option_of_the_readme_exists():
    options = {o for command in cli.cli.commands.values() for p in command.params for o in p.opts}
    for name in cli.cli.commands:
        if name != "open":
            assert f"clusterscope {name}" in README
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    for option in re.findall(r"(--[a-z-]+)", shell):
        assert option in options


def test_every_preset_is_in_the_readme_and_every_transport_in_the_model():
    for name in presets.names():
        assert f"`{name}`" in README
    for name in parts.transports():
        assert f"`{name}`" in MODEL


def test_every_picture_and_page_that_is_linked_exists():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_the_keys_of_the_readme_are_keys_of_the_explorer():
    from clusterscope.tui.keys import EXPLORER, MOVES

    known = {key for action in (*EXPLORER, *MOVES) for key in action.shown_keys.split(" ")}
    table = README.split("<!-- keys -->")[1].split("\n\n")[0]
    for row in table.strip().splitlines()[2:]:
        for key in re.findall(r"`([^`]+)`", row.split("|")[1]):
            assert key in known | {"1", "6"}, key


def test_the_data_model_is_fresh():
    assert data_model.TARGET.read_text() == data_model.text()


def test_every_source_key_has_an_address():
    listed = set(re.findall(r"`(V[12]:[\w-]+)`", (ROOT / "docs" / "sources.md").read_text()))
    used = set()
    for page in [*(ROOT / "presets").glob("*.toml"), ROOT / "clusterscope/spec/parts.toml"]:
        used |= set(re.findall(r"V[12]:[a-z0-9][\w-]*", page.read_text()))
    assert used <= listed


def test_the_model_page_states_the_constants_of_the_code():
    from clusterscope.transport.model import SCALE_UP_GOODPUT

    assert f"**{SCALE_UP_GOODPUT}**" in MODEL
    for name in parts.transports():
        low, high = parts.transport(name).error_band
        assert re.search(rf"`{name}` {low:.2f}.{high:.2f}", MODEL), name
