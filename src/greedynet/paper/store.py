"""Results on disk, part by part: finished parts are not run again."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from greedynet.support.files import write_atomically

Part = dict[str, Any]


class StoreError(ValueError):
    """The folder of results cannot be used; the message gives the reason and the remedy."""


class PartStore:
    """A folder in which each finished part of a reproduction is one JSON file.

    Parts of other settings are rejected; `fresh` deletes those of an earlier run.
    """

    def __init__(self, folder: Path, settings: dict[str, Any], *, fresh: bool = False) -> None:
        self.folder = folder
        self._settings = settings
        self._parts = folder / "parts"
        if fresh and self._parts.is_dir():
            shutil.rmtree(self._parts)
        try:
            self._parts.mkdir(parents=True, exist_ok=True)
            writable = os.access(self._parts, os.W_OK)
        except OSError:
            writable = False
        if not writable:
            raise StoreError(
                f"cannot write to the folder {str(folder)!r}: name another with --out."
            )
        for path in sorted(self._parts.glob("*.json")):
            self._read(path)

    def has(self, name: str) -> bool:
        """Whether the part is finished."""
        return self._path(name).exists()

    def part(self, name: str, compute: Callable[[], Part]) -> Part:
        """Return a part; compute and save it if it does not exist."""
        if not self.has(name):
            content = {"settings": self._settings, "part": compute()}
            write_atomically(self._path(name), json.dumps(content).encode())
        return self._read(self._path(name))

    def _path(self, name: str) -> Path:
        return self._parts / f"{name}.json"

    def _read(self, path: Path) -> Part:
        try:
            content = json.loads(path.read_text())
            settings, part = content["settings"], content["part"]
        except (ValueError, KeyError, TypeError, OSError):
            raise StoreError(
                f"{str(path)!r} is damaged: delete it to run that part again, or add --fresh to "
                "run everything again."
            ) from None
        if settings != self._settings:
            raise StoreError(
                f"{str(self.folder)!r} contains results of other settings "
                f"({_differences(settings, self._settings)}): name another folder with --out, or "
                "add --fresh to replace them."
            )
        return dict(part)


def _differences(held: dict[str, Any], wanted: dict[str, Any]) -> str:
    names = sorted(name for name in {*held, *wanted} if held.get(name) != wanted.get(name))
    return ", ".join(f"{name} {held.get(name)} there, {wanted.get(name)} now" for name in names)
