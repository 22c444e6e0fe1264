"""Shared memory and `multiprocessing`, without another import."""

import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, sys
import tensix

def fill(queue, done):
    x = queue.get()
    x.fill_(7)
    done.put(None)

if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    with tensix.use_allocator(tensix.SharedMemoryAllocator()):
        x = tensix.zeros(3)
    queue, done = context.Queue(), context.Queue()
    process = context.Process(target=fill, args=(queue, done))
    process.start()
    queue.put(x)
    done.get(timeout=60)
    process.join()
    print(x.tolist())
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_shared_tensor_is_shared(tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(method=method))
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout == "[7.0, 7.0, 7.0]\n", run.stderr


def test_no_shared_tensor_is_copied_in_silence():
    """A tensor at an odd address of a block that another process made."""
    program = """if 1:
        from multiprocessing.reduction import ForkingPickler
        import tensix
        x = tensix.Tensor.from_storage(
            tensix.Storage(64, tensix.SharedMemoryAllocator()), 0, (64,), (1,), tensix.uint8)
        fd, offset = tensix.SharedMemoryAllocator.locate(x.data_ptr())
        block = tensix.SharedMemoryAllocator.attach(fd, offset + 1, 8)
        y = tensix.Tensor.from_storage(tensix.Storage.from_data_ptr(8, block), 0, (2,), (1,), tensix.int32)
        z = ForkingPickler.loads(ForkingPickler.dumps(y))
        z[1] = 0x01020304
        print(x[:9].tolist())
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout == "[0, 0, 0, 0, 0, 4, 3, 2, 1]\n", run.stderr
