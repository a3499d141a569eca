"""Catalogues of named tables that ship as TOML beside this module: models, plans, services."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from clusterscope.errors import SpecError, UnknownNameError


@dataclass(frozen=True)
class Named:
    """Tables `[kind.NAME]` of one file; names are found in any case.

    Attributes:
        file: name of the TOML file.
        kind: what an entry is, in one word.
        hint: what to do about an unknown name; the known ones when empty.
    """

    file: str
    kind: str
    hint: str = ""

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, Any]]:
        """All entries in the order of the file."""
        text = files(__package__).joinpath(self.file).read_text("utf-8")
        tables: Mapping[str, Mapping[str, Any]] = tomllib.loads(text)[self.kind]
        return tables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all entries."""
        return tuple(self.tables)

    def spelled(self, name: str) -> str:
        """A name as the file spells it.

        Raises:
            UnknownNameError: there is no such entry; names the nearest.
        """
        exact = {key.casefold(): key for key in self.tables}.get(name.casefold())
        if exact is None:
            hint = self.hint or "known are " + ", ".join(self.tables)
            raise UnknownNameError(self.kind, name, self.tables, hint=hint)
        return exact

    def entry(self, name: str) -> Mapping[str, Any]:
        """One entry.

        Raises:
            UnknownNameError: there is no such entry; names the nearest.
        """
        return self.tables[self.spelled(name)]

    def text(self, name: str, key: str) -> str:
        """What an entry says under a key that all entries have."""
        words: str = self.entry(name)[key]
        return words

    def asked(self, name: str, where: str) -> dict[str, Any]:
        """The entry that a spec names in the table `where`, with its name.

        Raises:
            SpecError: there is no such entry; names the nearest.
        """
        try:
            exact = self.spelled(name)
        except UnknownNameError as error:
            problem, _, hint = str(error).partition("; ")
            raise SpecError(f"{where}.name", problem, hint) from None
        return {"name": exact, **self.tables[exact]}
