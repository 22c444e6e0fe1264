"""Fixtures for tensors."""

import runpy
import types
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def dlpack():
    """Return the module `dlpack_structs`, which lies here."""
    return types.SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("dlpack_structs.py"))))
