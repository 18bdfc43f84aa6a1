"""Models out of files: whatever was saved, network or estimator."""

import os
from typing import Any

import greedynet.estimators  # noqa: F401 - its classes make themselves known to `restore`
from greedynet.estimators.saving import restore
from greedynet.support.tensorfile import ModelFileError, read_tree
from greedynet.tables.model import KIND, TableModel


def load(path: str | os.PathLike[str]) -> Any:
    """Give back what was saved, a network, an estimator or a model of a table, bit for bit.

    Parameters
    ----------
    path : str or path
        A file written by `save`.

    Returns
    -------
    model : ShallowNetwork, estimator or TableModel

    Raises
    ------
    ModelFileError
        If the file is cut short, damaged, of another program or of a newer version.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import greedynet
    >>> X = [[-1.0], [0.0], [1.0], [2.0]]
    >>> model = greedynet.GreedyNetRegressor(n_nodes=3).fit(X, [1.0, 0.0, 1.0, 2.0])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> model.save(file)
    >>> bool((greedynet.load(file).predict(X) == model.predict(X)).all())
    True
    """
    contents = read_tree(path)
    try:
        if contents.kind == KIND:
            return TableModel.from_contents(contents)
        return restore(contents)
    except ModelFileError:
        raise
    # The checksum is right: whoever wrote the file meant something else than we do.
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelFileError(
            f"The model file {os.fspath(path)!r}, written by greedynet "
            f"{contents.library_version}, does not describe a {contents.kind}: {error}"
        ) from error
