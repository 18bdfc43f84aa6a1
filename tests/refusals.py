"""Fits that must fail: a new estimator stays new, and a fitted one stays as it was."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone


def spoiled(array, value):
    """The array with one value replaced; as objects where the value is no number."""
    copy = np.array(array, dtype=object if isinstance(value, str) else float)
    copy.flat[3] = value
    return copy


def fitted_attributes(model):
    return [name for name in vars(model) if name.endswith("_")]


class Refusals:
    """Demands an error of fits; the data are good ones, and inputs those of a fitted estimator."""

    def __init__(self, inputs: Any, **data: Any):
        self.inputs, self.data = inputs, data

    def __call__(self, fitted, error, message, data=None, **parameters):
        data = self.data | (data or {})
        new = clone(fitted).set_params(**parameters)
        with pytest.raises(error, match=message):
            new.fit(**data)
        assert fitted_attributes(new) == []
        predict = getattr(fitted, "predict_proba", fitted.predict)
        before, wanted = dict(vars(fitted)), predict(self.inputs)
        fitted.search = clone(fitted.search, safe=False)
        try:
            with pytest.raises(error, match=message):
                fitted.set_params(**parameters).fit(**data)
            for name in fitted_attributes(fitted):
                assert vars(fitted)[name] is before[name]
            np.testing.assert_array_equal(predict(self.inputs), wanted)
        finally:
            vars(fitted).clear()
            vars(fitted).update(before)
