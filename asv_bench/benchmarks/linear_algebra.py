"""Linear algebra and Fourier transforms of small and of large matrices."""

import tensix

SQUARE = (
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "pinv", "qr",
    "slogdet", "svd", "svdvals", "trace", "vector_norm",
)  # fmt: skip
PAIRS = ("matmul", "solve", "tensordot", "vecdot")
TRANSFORMS = ("fft", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftn")


class OneMatrix:
    """A positive definite matrix."""

    params = (SQUARE, (3, 64, 512))
    param_names = ("function", "size")

    def setup(self, function, size):
        tensix.set_num_threads(1)
        self.function = getattr(tensix.linalg, function)
        self.x = tensix.eye(size) * size + tensix.ones(size, size)

    def time_call(self, function, size):
        self.function(self.x)


class TwoMatrices(OneMatrix):
    """A product, or a solution."""

    params = (PAIRS, (3, 64, 512))

    def time_call(self, function, size):
        self.function(self.x, self.x)


class Transforms:
    """Of rows, or of whole matrices; those that take real numbers only get real ones."""

    params = (TRANSFORMS, (3, 64, 1024))
    param_names = ("function", "size")

    def setup(self, function, size):
        tensix.set_num_threads(1)
        self.function = getattr(tensix.fft, function)
        self.x = tensix.rand(size, size)

    def time_call(self, function, size):
        self.function(self.x)
