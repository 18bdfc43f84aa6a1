"""A tree of plain values and arrays in one safetensors file.

    8 bytes: header length | header: JSON, with metadata | the arrays' bytes

Arrays are the file's tensors, named by their place in the tree (`network.biases`); the tree itself
stands in the metadata as JSON, with `{"array": name}` where an array goes. Beside it the metadata
say what the file is: `format`, `format_version`, `library_version`, `kind`, and `sha256`, the
digest of the whole file with the digest itself written as zeros. So a flipped bit anywhere is
noticed, and nothing in the file is ever executed.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_from_bytes
from safetensors.numpy import save as tensors_to_bytes

from greedynet.support.files import write_atomically

Array = NDArray[Any]
# None, bool, int, float, str, arrays, and lists and dicts of such.
Tree = Any

FORMAT = "greedynet"
FORMAT_VERSION = 1

# safetensors reads no longer header, and a foreign file must not fill the memory.
_MAX_HEADER = 100_000_000

_NO_DIGEST = "0" * 64
_METADATA = "__metadata__"


class ModelFileError(ValueError):
    """A file that is no model, or is one no longer, or one that this version cannot read."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds.

    Attributes
    ----------
    kind : str
        What the tree describes.
    tree : dict
        Plain values and arrays.
    library_version : str
        Version of greedynet that wrote the file.
    """

    kind: str
    tree: dict[str, Tree]
    library_version: str


def write_tree(path: str | os.PathLike[str], kind: str, tree: Mapping[str, Tree]) -> None:
    """Write a tree; the file appears complete or not at all, the same tree giving the same bytes.

    Parameters
    ----------
    path : str or path
        File to write.
    kind : str
        What the tree describes.
    tree : mapping
        Values None, bool, int, float, str, arrays, and lists and mappings of such.
    """
    arrays: dict[str, Array] = {}
    metadata = {
        "sha256": _NO_DIGEST,  # first: the first run of zeros in the file is the one to replace
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "library_version": library_version(),
        "kind": kind,
        "model": json.dumps(_without_arrays(tree, "", arrays)),
    }
    data = _bytes(arrays, metadata)
    write_atomically(path, data.replace(_NO_DIGEST.encode(), _digest(data).encode(), 1))


def read_tree(path: str | os.PathLike[str]) -> Contents:
    """Read what `write_tree` wrote.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    contents : Contents

    Raises
    ------
    ModelFileError
        If the file is cut short, damaged, of another program or of a newer format.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        header = _read_header(file, name)
        metadata = _our_metadata(header, name)
        # Only now: a foreign file may be larger than the memory.
        file.seek(0)
        data = file.read()
    if not _matches(data, metadata.get("sha256", "")):
        raise ModelFileError(
            f"The model file {name!r} is damaged: its contents do not match its checksum. "
            "Copy or save it again."
        )
    try:
        arrays = tensors_from_bytes(data)
        tree = _with_arrays(json.loads(metadata["model"]), arrays)
    except (SafetensorError, LookupError, ValueError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"The model file {name!r} does not hold what its header declares: {error}"
        ) from error
    return Contents(metadata.get("kind", ""), tree, metadata.get("library_version", "unknown"))


def library_version() -> str:
    """Version of the package, which stands above its modules but is loaded before them."""
    return str(sys.modules["greedynet"].__version__)


# Writing


def _without_arrays(tree: Tree, place: str, arrays: dict[str, Array]) -> Tree:
    """Put the arrays of a tree into `arrays` and their names into the tree."""
    if isinstance(tree, np.ndarray):
        # safetensors writes strided arrays in the order of memory, without a word.
        arrays[place] = np.asarray(tree, order="C")
        return {"array": place}
    if isinstance(tree, Mapping):
        return {
            key: _without_arrays(value, f"{place}.{key}" if place else key, arrays)
            for key, value in tree.items()
        }
    if isinstance(tree, list | tuple):
        return [_without_arrays(value, f"{place}.{i}", arrays) for i, value in enumerate(tree)]
    return tree


def _bytes(arrays: dict[str, Array], metadata: dict[str, str]) -> bytes:
    """Bytes of the file. safetensors shuffles the metadata, so they are put in here, in order."""
    plain = tensors_to_bytes(arrays)
    start = 8 + int.from_bytes(plain[:8], "little")
    header = {_METADATA: metadata, **json.loads(plain[8:start])}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + plain[start:]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Reading


def _matches(data: bytes, digest: str) -> bool:
    """Whether a file's bytes have the digest they carry."""
    if len(digest) != len(_NO_DIGEST) or not digest.isascii():
        return False
    return _digest(data.replace(digest.encode(), _NO_DIGEST.encode(), 1)) == digest


def _read_header(file: IO[bytes], name: str) -> dict[str, Any]:
    """Read the JSON header, of which nothing may be believed."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, _MAX_HEADER):
        raise ModelFileError(
            f"{name!r} is no model file, or one that was cut short: it has {size} bytes, and by "
            f"its first eight the header alone would take {length}."
        )
    try:
        header = json.loads(file.read(length).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{name!r} is no model file, or a damaged one: its header is not readable ({error})."
        ) from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{name!r} is no model file: its header is not a JSON object.")
    return header


def _our_metadata(header: dict[str, Any], name: str) -> dict[str, str]:
    """Metadata of a file that is ours and not newer than we are."""
    metadata = header.get(_METADATA)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ModelFileError(
            f"{name!r} is a safetensors file, but not one that greedynet wrote: `format` in its "
            f"metadata must be {FORMAT!r}. Give a file made by `save`."
        )
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ModelFileError(f"The model file {name!r} is damaged: its metadata must be text.")
    try:
        found = int(metadata.get("format_version", ""))
    except ValueError:
        found = 0
    if found < 1:
        raise ModelFileError(f"The model file {name!r} is damaged: it has no format version.")
    if found > FORMAT_VERSION:
        raise ModelFileError(
            f"The model file {name!r} has format version {found}, written by greedynet "
            f"{metadata.get('library_version')}; this greedynet {library_version()} reads up to "
            f"version {FORMAT_VERSION}: pip install --upgrade greedynet"
        )
    return metadata


def _with_arrays(tree: Tree, arrays: dict[str, Array]) -> Tree:
    """Undo `_without_arrays`; arrays of the tree are copies, aligned and writable."""
    if isinstance(tree, dict):
        if set(tree) == {"array"}:
            return np.array(arrays[tree["array"]])
        return {key: _with_arrays(value, arrays) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_with_arrays(value, arrays) for value in tree]
    return tree
