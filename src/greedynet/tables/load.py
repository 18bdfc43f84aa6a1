"""Loading models from files, and any model as one that takes tables."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import greedynet.estimators  # noqa: F401 - registers its classes for `restore`
from greedynet.estimators.frames import Levels, LevelTable, feature_names, known_levels
from greedynet.estimators.loaded import validate_loaded
from greedynet.estimators.saving import restore
from greedynet.model.network import Network
from greedynet.rows.missing import Filling
from greedynet.support.tensorfile import CONTENT_ERRORS, ModelFileError, StoredTree, read_tree
from greedynet.tables.columns import Columns, Input
from greedynet.tables.kinds import Categories, Coded, Kind, Numbers, Truths
from greedynet.tables.model import KIND, TableModel
from greedynet.tables.readers import Table, TableError, open_as_fitted
from greedynet.tables.scores import loss_of


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
        estimator = validate_loaded(restore(contents))
        loss_of(estimator)
        return estimator
    model = TableModel.from_contents(contents)
    loss_of(validate_loaded(model.estimator))
    n_features = model.network.n_features
    if len(model.columns.features) != n_features:
        raise ValueError(
            f"`columns` must give the {n_features} inputs of the network, got "
            f"{len(model.columns.features)}."
        )
    open_as_fitted(model.about, {"x": [0.0]})  # the marks of numbers, and the encoding
    model.summary()
    return model


def as_table_model(
    model: Any, table: Table, target: str | None = None, beside: Sequence[str] = ()
) -> TableModel:
    """Return any model as one that takes the table; without stored columns, all are numeric.

    The columns are those of the table if the model has no names for them: without `target`, and
    without those of `beside`, such as keys, if there are too many.
    """
    if isinstance(model, TableModel):
        return model
    names, n_columns = known_names(model)
    if names is None:
        names = tuple(name for name in table.names if name != target)
        if len(names) > n_columns:
            names = tuple(name for name in names if name not in beside)
        if len(names) != n_columns:
            raise TableError(
                f"The model takes {n_columns} columns and has no names for them, "
                f"{table.label} has {len(names)}: give a table of exactly these columns, in the "
                "order of training."
            )
    return with_columns(model, names)


def _kind_of(table: LevelTable) -> Kind:
    """Return the kind of a column with these levels."""
    levels = tuple(map(str, table.levels))
    if table.are_units:
        return Categories(levels)
    codes = tuple(map(tuple, table.features.tolist()))
    return Coded(levels, codes=codes, n_targets=table.features.shape[1] - 1)


def _with_categories(model: TableModel, levels: Levels) -> TableModel:
    """Return a model of features with a column of categories for the features of its levels."""
    kinds = {name: _kind_of(table) for name, table in levels.items()}
    column_of = {f: name for name, kind in kinds.items() for f in kind.features(name)}
    inputs: dict[str, Input] = {}
    for one in model.columns.inputs:
        name = column_of.get(one.name)
        if one.gaps_of in column_of:
            inputs[one.name] = replace(one, gaps_of=column_of[one.gaps_of])
        elif name is None:
            inputs[one.name] = one
        else:
            before = inputs.get(name, Input(name, kinds[name]))
            means, gaps = (*before.means, *one.means), before.gaps or one.gaps
            inputs[name] = replace(before, means=means, gaps=gaps)
    for name, table in levels.items():
        # Of new levels.
        means = inputs[name].means or tuple(table.features[-1].tolist())
        inputs[name] = replace(inputs[name], means=means)
    return replace(model, columns=Columns(tuple(inputs.values())))


def known_names(model: Any) -> tuple[tuple[str, ...] | None, int]:
    """Return the names of the features that a model takes, None without any, and their number."""
    network = model if isinstance(model, Network) else model.network_
    filling: Filling | None = getattr(model, "filling_", None)
    if filling is None:
        return network.feature_names, network.n_features
    return feature_names(model), len(filling.values)


def with_columns(model: Any, names: Sequence[str]) -> TableModel:
    """Return a model as one that takes columns of these names: numbers, booleans, its categories.

    Where it has learned from missing values, the columns fill them in, and its inputs are those of
    its network.
    """
    levels = known_levels(model)
    filling: Filling | None = getattr(model, "filling_", None)
    booleans = getattr(model, "booleans_", np.zeros(len(names), dtype=np.bool_))
    kinds = [Truths() if is_boolean else Numbers() for is_boolean in booleans]
    inputs = [Input(name, kind) for name, kind in zip(names, kinds, strict=True)]
    if filling is None:
        plain = model.without_categories() if levels else model
        return _with_categories(TableModel(Columns(tuple(inputs)), plain), levels)
    gaps = (filling.gaps | filling.empty).tolist()
    inputs = [
        replace(one, means=(value,), gaps=gap)
        for one, value, gap in zip(inputs, filling.values.tolist(), gaps, strict=True)
    ]
    indicated = np.flatnonzero(filling.indicated).tolist()
    inputs += [replace(Input.indicator(names[j], names), means=(0.0,)) for j in indicated]
    found = TableModel(Columns(tuple(inputs)), model.without_filling(), missing="learn")
    return _with_categories(found, levels)


def open_like(model: Any, source: Any, **given: Any) -> Table:
    """Open a table to predict from, as the table that the model was fitted to.

    Options of `open_table` that are not None take precedence.
    """
    about = model.about if isinstance(model, TableModel) else {}
    return open_as_fitted(about, source, **given)


def as_labelled_model(model: Any, table: Table, target: str | None) -> TableModel:
    """Return any model as one that takes a table of inputs and targets; see `as_table_model`."""
    try:
        return as_table_model(model, table, target)
    except TableError as error:
        if target is not None:
            raise
        raise TableError(
            f"{error} If one of its columns is to be predicted, give `target`."
        ) from error
