"""`inside`: a node as a fabric of its own; `networks`: scale-up, scale-out, front-end."""

from __future__ import annotations

import click


@click.command()
@click.argument("spec")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="change a key of the spec")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def inside(spec: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Print what traffic inside a node of SPEC gets, and what its links carry."""
    from clusterscope.engine.scenario import build
    from clusterscope.export import inner
    from clusterscope.spec.presets import load

    scenario = build(load(spec, sets))
    click.echo((inner.inside_json if as_json else inner.inside_text)(scenario), nl=False)


@click.command()
@click.argument("spec")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="change a key of the spec")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def networks(spec: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Print the networks of SPEC side by side, and what reaches storage."""
    from clusterscope.engine.scenario import build
    from clusterscope.export import inner
    from clusterscope.spec.presets import load

    scenario = build(load(spec, sets))
    click.echo((inner.networks_json if as_json else inner.networks_text)(scenario), nl=False)


COMMANDS = (inside, networks)
