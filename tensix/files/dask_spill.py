"""What Dask's workers write to disk where memory is short, mapped instead of read when it is used again.

Note [Spilled chunks]
~~~~~~~~~~~~~~~~~~~~~
Dask's mapping of files can map; it only has to be told. But a tensor over bytes that are not aligned is copied, and in
a file of Dask the bytes of a chunk come after a header of any length. So the header is padded. Dask removes the file
once its chunk is back, and so no one else sees what is written to the chunk: the mapping keeps it.
"""

import msgpack
from distributed import WorkerPlugin
from distributed.protocol.utils import pack_frames_prelude
from distributed.spill import Slow
from distributed.utils import nbytes

__all__ = ["MapSpilled"]

ALIGNMENT = 64
LARGE = 4096  # bytes of a frame that is worth it


class MapSpilled(WorkerPlugin):
    """Have the workers of a cluster map chunks that they wrote to disk, instead of reading them.

    Notes
    -----
    Register it with a client. Pages of a chunk are read when they are touched, and the system may take them again, so a
    chunk that comes back takes no memory that others could not have. It is for tensors and NumPy's arrays; what Dask
    compresses, because that pays, is read as before.

    Lifetime: the chunk keeps the mapping, which keeps the file's bytes on the disk.

    Examples
    --------
    ::

        from tensix.files.dask_spill import MapSpilled
        client.register_plugin(MapSpilled())
    """

    name = "tensix-map-spilled"

    def setup(self, worker):
        """Begin, where the worker writes chunks to disk at all."""
        slow = getattr(getattr(worker.data, "slow", None), "data", None)
        if isinstance(slow, Slow):
            dump = slow.dump
            slow.d.memmap = True
            slow.dump = lambda value: aligned(dump(value))


def aligned(frames):
    """Return the parts of a file, the first large one aligned. See Note [Spilled chunks].

    Parameters
    ----------
    frames : list of buffers
        The lengths of the others, the header, and what it describes.
    """
    first = next((i for i in range(2, len(frames)) if nbytes(frames[i]) >= LARGE), None)
    if first is None:
        return frames
    header = msgpack.loads(frames[1], raw=False, use_list=False)
    around = nbytes(frames[0]) + sum(map(nbytes, frames[2:first]))
    padded = msgpack.dumps(header | {"padding": b""}, use_bin_type=True)
    padding = -(around + len(padded)) % ALIGNMENT
    padded = msgpack.dumps(header | {"padding": bytes(padding)}, use_bin_type=True)
    return [pack_frames_prelude([padded, *frames[2:]]), padded, *frames[2:]]
