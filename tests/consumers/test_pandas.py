"""Tensors beside the frames and series of pandas."""

import numpy as np
import pandas as pd
import pytest

import tensix


@pytest.mark.parametrize(
    "data", [pd.Series([0.1]), pd.DataFrame({"a": [0.1]}), [pd.Series([0.1])]], ids=["series", "frame", "in a list"]
)
def test_columns_keep_their_type(data):
    assert tensix.tensor(data).dtype is tensix.float64
    assert tensix.asarray(data).dtype is tensix.float64
    assert tensix.tensor(data).flatten()[0].item() == 0.1


def test_a_class_with_its_own_ufuncs_is_asked():
    x = tensix.tensor([1.0, 2.0])
    assert isinstance(np.add(x, pd.Series([1.0, 2.0])), pd.Series)


def test_frames_take_arrays_over_the_same_memory():
    a = np.arange(12.0).reshape(3, 4)
    x = tensix.from_numpy(a)
    frame = pd.DataFrame(a)
    assert (frame * np.asarray(x) == frame * a).all().all()


def test_pandas_reads_element_types():
    assert pd.api.types.is_float_dtype(tensix.float32)
    assert pd.api.types.is_integer_dtype(tensix.uint8)
    assert pd.Series([1, 2]).astype(tensix.float32).dtype == np.float32
    assert pd.Series(tensix.arange(3), dtype=tensix.int16).dtype == np.int16
