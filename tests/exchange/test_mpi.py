"""Collectives of MPI straight on tensors, on two processes."""

import os
import re
import subprocess
import sys

import mpi4py
import pytest

SCRIPT = """
from mpi4py import MPI
import tensix

world = MPI.COMM_WORLD
x = tensix.full((4,), float(world.rank + 1))
y = tensix.empty(4)
world.Allreduce(x, y)
assert y.tolist() == [3.0] * 4, y

rows = tensix.empty(2, 3, dtype="int64")
world.Allgather(tensix.full((3,), world.rank, dtype="int64"), rows)
assert rows.tolist() == [[0] * 3, [1] * 3], rows

z = tensix.arange(6).reshape(2, 3) if world.rank == 0 else tensix.zeros(2, 3, dtype="int64")
world.Bcast(z, 0)
assert z.tolist() == [[0, 1, 2], [3, 4, 5]], z

wave = tensix.asarray([1j, 2], dtype="complex128")
world.Allreduce(MPI.IN_PLACE, wave)
assert wave.tolist() == [2j, 4], wave

received = world.sendrecv(z.T, 1 - world.rank)  # pickled
assert received.tolist() == z.T.tolist() and received.stride() == (1, 3)

for wrong in (tensix.zeros(4, 4)[:, ::2], tensix.asarray(b"ab"), tensix.empty(2, device="meta")):
    try:
        world.Allreduce(MPI.IN_PLACE, wrong)
    except (BufferError, ValueError, TypeError):
        pass
    else:
        raise AssertionError(wrong)
print("done", world.rank)
"""


def test_collectives(tmp_path):
    assert mpi4py.get_config() is not None
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    # Open MPI asks before it starts two processes on one core, or any as root; other MPIs do not read these.
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }  # fmt: skip
    done = subprocess.run(
        ["mpiexec", "-n", "2", sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False,
        env=environment,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr)
    # What the two print may arrive in pieces, one between the other's.
    assert sorted(re.findall(r"done|\d", done.stdout)) == ["0", "1", "done", "done"]
