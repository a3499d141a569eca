"""Do the ports suffice: rates a switch offers, and how much of it two kinds of ports use up.

A switch is one budget: 32 of the 64 ports it has at 400 Gb/s use half of it, and 64 of its 128
ports at 200 Gb/s the other half. Integers throughout, so that an exact fit is a fit.
"""

from __future__ import annotations

from clusterscope.errors import SpecError
from clusterscope.spec.parts import Switch
from clusterscope.spec.wording import listed
from clusterscope.units import counted

Load = tuple[int, float]  # ports, and their rate in Gb/s


def need_ports(where: str, key: str, switch: Switch, gbps: float) -> int:
    """Ports that the whole switch offers at this rate.

    Raises:
        SpecError: it has no ports of this rate; names the nearest rates.
    """
    ports = switch.ports_at(gbps)
    if ports is None:
        near = min(switch.speeds, key=lambda speed: (abs(speed - gbps), speed))
        raise SpecError(
            f"{where}: {key}",
            f"{gbps:g} Gb/s is not a port rate of {switch.name}",
            f"allowed is {listed(f'{speed:g}' for speed in switch.speeds)}"
            + (f", nearest is {near:g}" if len(switch.speeds) > 1 else ""),
        )
    return ports


def most_beside(switch: Switch, used: Load, gbps: float) -> int:
    """Ports of a rate that are left beside those used, both at rates the switch has."""
    count, used_gbps = used
    whole, ports = switch.ports_at(used_gbps) or 1, switch.ports_at(gbps) or 0
    return max(0, (whole - count) * ports // whole)


def need_fit(where: str, key: str, switch: Switch, down: Load, up: Load) -> None:
    """Downlinks and uplinks fit the switch together.

    Raises:
        SpecError: they do not; names the most of each that fits beside the other.
    """
    most_up = most_beside(switch, down, up[1])
    if up[0] <= most_up and most_beside(switch, up, down[1]) >= down[0]:
        return
    most_down = most_beside(switch, up, down[1])
    raise SpecError(
        f"{where}: {key}",
        f"{counted(down[0], 'port')} of {down[1]:g} Gb/s down and {up[0]:,} of {up[1]:g} Gb/s up "
        f"do not fit {switch.name}, which has {counted(switch.ports_at(down[1]) or 0, 'port')}"
        + (f" of {down[1]:g} Gb/s" if switch.speeds else ""),
        f"allowed is {most_down} down beside these uplinks, or {most_up} up beside these downlinks",
    )
