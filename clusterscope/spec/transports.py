"""What must hold of `[transport]`: of the fabric it runs on, and between its own keys."""

from __future__ import annotations

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec
from clusterscope.units import counted


def check_transport(spec: ClusterSpec, where: str) -> None:
    """The transport can run on this fabric, and has what its keys ask for.

    Raises:
        SpecError: the first thing that does not hold.
        UnknownNameError: no such transport in the catalogue.
    """
    own = spec.transport
    part = parts.transport(own.name)
    reason = unroutable(spec, part)
    if reason:
        raise SpecError(f"{where}: transport.name", *reason)
    if own.self_healing is not None and part.sm_reroute_s is None:
        raise SpecError(
            f"{where}: transport.self_healing",
            f"{part.name} has no subnet manager that would reroute instead",
            "allowed with infiniband and infiniband-ar; use transport.reroute_s",
        )
    for key in ("link_down_detection", "hold_timer_s"):
        if getattr(own, key) is not None and part.hold_timer_s is None:
            raise SpecError(
                f"{where}: transport.{key}",
                f"{part.name} is rerouted by {part.reroute_by}, without a hold timer",
                f"allowed with {', '.join(_by_hold_timer())}; use transport.reroute_s",
            )
    if own.recovery == "go-back-n" and part.nack_s is None:
        raise SpecError(
            f"{where}: transport.recovery",
            f"'go-back-n' asks for NACKs, and {part.name} has none",
            "allowed are selective, tcp, link-replay and go-back-0",
        )


def _by_hold_timer() -> list[str]:
    """Transports whose routes a protocol with a hold timer mends."""
    found = {name: parts.transport(name) for name in parts.transports()}
    return [name for name, part in found.items() if part.hold_timer_s is not None]


def unroutable(spec: ClusterSpec, part: parts.Transport) -> tuple[str, str] | None:
    """Why the transport cannot cross this fabric, and what can; None when it can."""
    tiers = spec.scale_out.tiers if spec.scale_out else 0
    if part.routed or not (tiers > 1 or spec.dragonfly):
        return None
    kind = "a dragonfly" if spec.dragonfly else f"a fabric of {counted(tiers, 'tier')}"
    return (
        f"{part.name!r} has no IP header, so it stays in one Ethernet subnet and {kind} is routed",
        "use rocev2, or scale_out.tiers = 1",
    )
