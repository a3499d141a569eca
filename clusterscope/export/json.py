"""The report, its schema and the manifest as canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from clusterscope.spec.wording import escaped


def write(document: Mapping[str, object]) -> str:
    """JSON text in the document's own key order, one space of indent, LF at the end.

    Raises:
        ValueError: a number that JSON does not know (nan, inf): the report says null there.
    """
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
    return escaped(text, lambda code: json.dumps(chr(code))[1:-1]) + "\n"
