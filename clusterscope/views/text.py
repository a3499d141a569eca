"""Numbers as text: one rule a unit. What is shown is rounded; what is exported is not.

The caller puts "~" before an estimate. nan and None are "–": there is no such number.
"""

from __future__ import annotations

import math
import unicodedata

from clusterscope.units import KIB
from clusterscope.views.shapes import Kind

NOTHING = "–"
_MINUS = "−"
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SECOND_UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_LITTLE_GBPS = 1e-3  # a MB/s in GB/s
_PETA_GBPS = 1e6
# Rates of links are compared in Gb/s, so these do not turn into Tb/s.
_TERA_GBPS, _TERA_FROM_GBPS = 1e3, 2e4
_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def fmt(value: object, kind: Kind) -> str:
    """A value as text with its unit; "–" for nan and None, "∞" for what never ends."""
    if value is None:
        return NOTHING
    if kind == "text" or isinstance(value, (str, bool)):
        return sanitize(str(value))
    number = float(value)  # type: ignore[arg-type]
    if math.isnan(number):
        return NOTHING
    if math.isinf(number):
        sign = "-" if number < 0 else ""
        return "∞ (stalled)" if kind == "seconds" else f"{sign}∞"
    return _number(number, kind)


def _number(number: float, kind: Kind) -> str:
    """A finite number of a kind."""
    match kind:
        case "int":
            return f"{round(number):,}"
        case "ratio":
            return ratio(number)
        case "delta" | "change":
            return delta(number) if kind == "delta" else change(number)
        case "gbps":
            return rate(number)
        case "GBps":
            return bandwidth(number)
        case "bytes":
            return size(number)
        case "seconds":
            return duration(number)
        case "usd":
            return f"${_prefixed(number)}".replace("G", "B")
        case "watts":
            return f"{_prefixed(number, ' ')}W"
        case _:
            return f"{number:.4g}"


def bandwidth(GBps: float) -> str:  # noqa: N803 - as everywhere
    """A bandwidth as "371.0 GB/s"; what is next to nothing as "3.2 MB/s" or "52.2 KB/s"."""
    if 0 < abs(GBps) < _LITTLE_GBPS:
        return f"{_plain(GBps / _LITTLE_GBPS**2)} KB/s"
    if 0 < abs(GBps) < 0.1:
        return f"{_plain(GBps / _LITTLE_GBPS)} MB/s"
    return f"{_plain(GBps)} GB/s"


def rate(gbps: float) -> str:
    """A rate as "97.5 Gb/s" or "1,600 Gb/s"; what many links carry as "15.7 Tb/s", "3.14 Pb/s"."""
    if abs(gbps) >= _PETA_GBPS:
        return f"{_plain(gbps / _PETA_GBPS)} Pb/s"
    if abs(gbps) >= _TERA_FROM_GBPS:
        return f"{_plain(gbps / _TERA_GBPS)} Tb/s"
    return f"{_plain(gbps)} Gb/s"


def ratio(number: float) -> str:
    """0 to 1 as ".97", with the 0 left out as columns of them are narrow; 1 and more as "1.00"."""
    text = f"{number:.2f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def delta(number: float) -> str:
    """A difference of ratios as "+.12" or "−.05"; "0" when it rounds to that."""
    text = _signed(f"{number:+.2f}").replace("0.", ".", 1)
    return "0" if text in ("+.00", f"{_MINUS}.00") else text


def change(number: float) -> str:
    """A share of growth as "+3.2 %" or "−0.4 %"; "0.0 %" when it rounds to that."""
    text = _signed(f"{100 * number:+.1f}")
    return "0.0 %" if text[1:] == "0.0" else f"{text} %"


def _signed(text: str) -> str:
    return text.replace("-", _MINUS)


def percent(number: float, digits: int = 1) -> str:
    """A ratio as "97.1 %"; "–" for nan."""
    if math.isnan(number):
        return NOTHING
    text = f"{100 * number:.{digits}f}"
    return f"{text.lstrip('-') if float(text) == 0 else text} %"


_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(part: float, cells: int) -> str:
    """A ratio as block characters, exact to an eighth of a cell; a sliver for next to nothing."""
    part = min(1.0, max(0.0, part))
    eighths = round(part * cells * 8)
    if part > 0.0005 and not eighths:
        eighths = 1
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def size(number: float) -> str:
    """Bytes with a binary prefix: "512 B", "1 GiB", "10.5 KiB"."""
    scaled, unit = abs(number), 0
    while scaled >= KIB and unit < len(_BYTE_UNITS) - 1:
        scaled, unit = scaled / KIB, unit + 1
    digits = f"{scaled:.1f}".removesuffix(".0")
    return f"{'-' if number < 0 else ''}{digits} {_BYTE_UNITS[unit]}"


def duration(number: float) -> str:
    """Seconds as "230 ns", "40.1 µs", "4.21 s", "12 min 05 s", "3 h 20 min"."""
    if number == 0:
        return "0 s"
    if abs(number) >= 3600:
        hours, minutes = divmod(round(number / 60), 60)
        return f"{hours} h {minutes:02d} min"
    if abs(number) >= 60:
        minutes, seconds = divmod(round(number), 60)
        return f"{minutes} min {seconds:02d} s"
    scale, unit = next(
        ((s, u) for s, u in reversed(_SECOND_UNITS) if abs(number) >= s), _SECOND_UNITS[0]
    )
    return f"{number / scale:.3g} {unit}"


def _plain(number: float) -> str:
    """A rate: thousands separated from 1,000 on, three digits or more below."""
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 100 else f"{number:.3g}"


def _prefixed(number: float, gap: str = "") -> str:
    """A number with an SI prefix: "4.52G", "90.1 M"."""
    for scale, prefix in _SI:
        if abs(number) >= scale:
            return f"{number / scale:.3g}{gap}{prefix}"
    return f"{number:.3g}{gap}"


def sanitize(text: str) -> str:
    """Text on one line, with control, bidirectional and unassigned characters replaced by "�"."""
    return "".join(
        c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
