"""What `serve_torch` does without PyTorch: say so, and load nothing that only programs with it need."""

import subprocess
import sys

PROGRAM = """
import sys, tensix
from tensix.memory.torch_scope import TorchWhenImported
try:
    tensix.memory.serve_torch()
except RuntimeError as error:
    print(error)
with TorchWhenImported() as waiting:
    print(waiting.waiting in sys.meta_path)
print(waiting.waiting in sys.meta_path, "tensix.memory.torch_memory" in sys.modules, "torch" in sys.modules)
"""


def test_without_pytorch():
    printed = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == [
        "serve_torch() serves a PyTorch that is there: write import torch before it.", "True", "False False False",
    ]  # fmt: skip
