"""Checks of the files of a command: outputs must be writable, and must not overwrite inputs."""

import os
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

# By the name of the argument; None where it was not given, text for standard output.
Files = Mapping[str, Path | str | None]


def check_files(inputs: Files, outputs: Files) -> None:
    """Raise an error unless every output can be written and differs from all other files.

    Parameters
    ----------
    inputs, outputs : mapping from str to Path or None
        Input and output files, by the names of the arguments.
    """
    from greedynet.support.files import check_target

    read = {name: path for name, path in inputs.items() if isinstance(path, Path)}
    written = {name: path for name, path in outputs.items() if isinstance(path, Path)}
    for name, path in written.items():
        check_target(path, name)
    pairs = [(old, new) for new in written for old in read]
    for old, new in [*pairs, *combinations(written, 2)]:
        if _is_same_file((read | written)[old], written[new]):
            raise ValueError(
                f"`{new}` must be a separate file, got {str(written[new])!r}, which is also "
                f"`{old}`: use another name for {new}."
            )


def _is_same_file(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)
