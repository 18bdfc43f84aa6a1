"""Loading models from files: networks, estimators and models of tables."""

import os
from typing import Any

import greedynet.estimators  # noqa: F401 - registers its classes for `restore`
from greedynet.estimators.rehearsal import rehearse
from greedynet.estimators.saving import restore
from greedynet.support.tensorfile import CONTENT_ERRORS, ModelFileError, StoredTree, read_tree
from greedynet.tables.model import KIND, TableModel
from greedynet.tables.reading import open_as_fitted


def load(path: str | os.PathLike[str]) -> Any:
    """Load a saved network, estimator or model of a table, bit for bit.

    Parameters
    ----------
    path : str or path
        A file written by `save`.

    Returns
    -------
    model : Network, estimator or TableModel

    Raises
    ------
    ModelFileError
        If the file is truncated, damaged, from another program or of another format.

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
        return _rehearsed(contents)
    except ModelFileError:
        raise
    # The checksum is correct, so the file was written with other contents than expected.
    except CONTENT_ERRORS as error:
        raise ModelFileError(
            f"The model file {os.fspath(path)!r}, written by greedynet "
            f"{contents.library_version}, does not describe a {contents.kind}: {error}"
        ) from error


def _rehearsed(contents: StoredTree) -> Any:
    """Return the model, after it has predicted some rows."""
    if contents.kind != KIND:
        return rehearse(restore(contents))
    model = TableModel.from_contents(contents)
    rehearse(model.estimator)
    n_features = model.network.n_features
    if len(model.columns.features) != n_features:
        raise ValueError(
            f"`columns` must give the {n_features} inputs of the network, got "
            f"{len(model.columns.features)}."
        )
    open_as_fitted(model.about, {"x": [0.0]})  # the marks of numbers, and the encoding
    model.summary()
    return model
