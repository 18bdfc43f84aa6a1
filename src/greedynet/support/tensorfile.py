"""A tree of plain values and arrays in one safetensors file.

    8 bytes: header length | header: JSON, with metadata | the arrays' bytes

Arrays are the file's tensors, named by their place in the tree (`network.biases`); the tree itself
is stored in the metadata as JSON, with `{"array": name}` in place of each array. The metadata also
contain `format`, `format_version`, `library_version`, `kind`, and `sha256`, the digest of the whole
file with zeros in place of the digest itself. So any flipped bit is detected, and nothing in the
file is ever executed.
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
# None, bool, int, float, str, arrays, and lists and dicts of them.
Tree = Any

FORMAT = "greedynet"
FORMAT_VERSION = 1

# The limit of safetensors; an unrelated file must not fill the memory.
_MAX_HEADER = 100_000_000

# What contents that are not as expected may raise, wherever that is noticed.
CONTENT_ERRORS = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
)

_NO_DIGEST = "0" * 64
_METADATA = "__metadata__"


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or cannot be read by this version."""


@dataclass(frozen=True, eq=False)
class StoredTree:
    """A tree read from a file, what it describes, and the version of greedynet that wrote it."""

    kind: str
    tree: dict[str, Tree]
    library_version: str


def write_tree(path: str | os.PathLike[str], kind: str, tree: Mapping[str, Tree]) -> None:
    """Write a tree atomically; the same tree gives the same bytes.

    `kind` says what it describes; its values are None, bool, int, float, str, arrays, and lists and
    mappings of them.
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


def read_tree(path: str | os.PathLike[str]) -> StoredTree:
    """Read a file written by `write_tree`.

    Raises `ModelFileError` if it is truncated, damaged, from another program or of another format.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        header = _read_header(file, name)
        metadata = _our_metadata(header, name)
        # Only now: an unrelated file may be larger than the memory.
        file.seek(0)
        data = file.read()
    if not _matches(data, metadata.get("sha256", "")):
        raise ModelFileError(
            f"The model file {name!r} is damaged: its contents do not match its checksum. "
            "Copy or save it again."
        )
    try:
        arrays = tensors_from_bytes(data)
        _check_arrays(arrays, len(data))
        tree = _with_arrays(json.loads(metadata["model"]), arrays)
    except (SafetensorError, *CONTENT_ERRORS) as error:
        raise ModelFileError(
            f"The contents of the model file {name!r} do not match its header: {error}"
        ) from error
    return StoredTree(metadata.get("kind", ""), tree, metadata.get("library_version", "unknown"))


def library_version() -> str:
    """Version of the package; the package is loaded before its modules, so no import is needed."""
    return str(sys.modules["greedynet"].__version__)


# Writing


def _without_arrays(tree: Tree, place: str, arrays: dict[str, Array]) -> Tree:
    """Move the arrays of a tree into `arrays`, with their names in the tree."""
    if isinstance(tree, np.ndarray):
        # safetensors would silently write strided arrays in memory order.
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
    """Bytes of the file. safetensors shuffles the metadata, so they are inserted here, in order."""
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
    if len(digest) != len(_NO_DIGEST) or not digest.isascii():
        return False
    return _digest(data.replace(digest.encode(), _NO_DIGEST.encode(), 1)) == digest


def _read_header(file: IO[bytes], name: str) -> dict[str, Any]:
    """Read the JSON header, whose contents are not trusted."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, _MAX_HEADER):
        raise ModelFileError(
            f"{name!r} is not a model file, or it is truncated: it has {size} bytes, but according "
            f"to the first eight, its header alone has {length}."
        )
    try:
        header = json.loads(file.read(length).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{name!r} is not a model file, or it is damaged: its header cannot be read ({error})."
        ) from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{name!r} is not a model file: its header is not a JSON object.")
    return header


def _our_metadata(header: dict[str, Any], name: str) -> dict[str, str]:
    """Return the metadata of a file written in this format."""
    metadata = header.get(_METADATA)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ModelFileError(
            f"{name!r} is a safetensors file, but was not written by greedynet: `format` in its "
            f"metadata must be {FORMAT!r}. Use a file written by `save`."
        )
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ModelFileError(f"The model file {name!r} is damaged: its metadata must be text.")
    found = metadata.get("format_version")
    if found is None:
        raise ModelFileError(f"The model file {name!r} is damaged: it has no format version.")
    if found != str(FORMAT_VERSION):
        raise ModelFileError(
            f"The model file {name!r} has format version {found}, written by greedynet "
            f"{metadata.get('library_version')}; this greedynet {library_version()} reads version "
            f"{FORMAT_VERSION}: pip install --upgrade greedynet, or fit again."
        )
    return metadata


def _check_arrays(arrays: Mapping[str, Array], n_bytes: int) -> None:
    """Raise an error for arrays that `write_tree` does not write.

    An array without elements may have any shape; what is allocated for such a shape later must be
    in proportion to the file.
    """
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"`{name}` must hold real numbers, got {array.dtype}.")
        if max(array.shape, default=0) > n_bytes:
            raise ValueError(f"`{name}` has the shape {array.shape} in a file of {n_bytes} bytes.")


def _with_arrays(tree: Tree, arrays: dict[str, Array]) -> Tree:
    """Invert `_without_arrays`; the arrays in the tree are copies, aligned and writable."""
    if isinstance(tree, dict):
        if set(tree) == {"array"}:
            return np.array(arrays[tree["array"]])
        return {key: _with_arrays(value, arrays) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_with_arrays(value, arrays) for value in tree]
    return tree
