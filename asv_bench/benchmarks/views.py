"""Views: each makes one body and one handle, whatever the size, unless elements have to move."""

import tensix

KIB = 1 << 10


class Geometry:
    """One view made and dropped per call; no element is touched."""

    params = (3, 7)  # dimensions: sizes and strides inside the body, and on the heap as beyond five
    param_names = ("ndim",)

    def setup(self, ndim):
        self.x = tensix.ones(*(1,) * (ndim - 3), 3, 4, 4)
        self.like = tensix.ones(*self.x.shape)
        self.order = tuple(reversed(range(ndim)))
        self.stride = self.x.stride()

    def time_view(self, ndim):
        self.x.view(48)

    def time_view_as(self, ndim):
        self.x.view_as(self.like)

    def time_view_dtype(self, ndim):
        self.x.view(tensix.float64)

    def time_reshape(self, ndim):
        self.x.reshape(48)

    def time_contiguous(self, ndim):
        self.x.contiguous()

    def time_contiguous_copy(self, ndim):
        self.x.mT.contiguous()

    def time_is_contiguous(self, ndim):
        self.x.is_contiguous()

    def time_flatten(self, ndim):
        self.x.flatten(-2)

    def time_unflatten(self, ndim):
        self.x.unflatten(-1, (2, 2))

    def time_expand(self, ndim):
        self.x.expand(2, *self.x.shape)

    def time_squeeze(self, ndim):
        self.x.squeeze(())

    def time_unsqueeze(self, ndim):
        self.x.unsqueeze(0)

    def time_reverse(self, ndim):
        self.x.T  # noqa: B018

    def time_matrix_transpose(self, ndim):
        self.x.mT  # noqa: B018

    def time_permute(self, ndim):
        self.x.permute(self.order)

    def time_transpose(self, ndim):
        self.x.transpose(-2, -1)

    def time_movedim(self, ndim):
        self.x.movedim(-1, 0)

    def time_select(self, ndim):
        self.x.select(-1, 1)

    def time_narrow(self, ndim):
        self.x.narrow(-1, 1, 2)

    def time_diagonal(self, ndim):
        self.x.diagonal(0, -2, -1)

    def time_unfold(self, ndim):
        self.x.unfold(-1, 2, 1)

    def time_as_strided(self, ndim):
        self.x.as_strided(self.x.shape, self.stride)


class Parts:
    """Many views per call."""

    params = (4, 1 * KIB)  # so few that the call counts too; only the parts count
    param_names = ("parts",)

    def setup(self, parts):
        self.x = tensix.ones(parts, 2)
        self.sizes = (1,) * parts

    def time_unbind(self, parts):
        self.x.unbind()

    def time_split(self, parts):
        self.x.split(1)

    def time_split_with_sizes(self, parts):
        self.x.split(self.sizes)

    def time_chunk(self, parts):
        self.x.chunk(parts)


class Formats:
    """Images brought from one memory format into the other: every element moves, and neighbours do not stay so."""

    params = (8, 224)  # pixels a side: 6 KiB of three channels, all bookkeeping; 4.6 MiB, beyond the L2 cache
    param_names = ("side",)

    def setup(self, side):
        self.rows = tensix.ones(8, 3, side, side)
        self.last = self.rows.contiguous(tensix.channels_last)

    def time_to_channels_last(self, side):
        self.rows.contiguous(tensix.channels_last)

    def time_to_contiguous(self, side):
        self.last.contiguous()

    def time_clone_channels_last(self, side):
        self.last.clone()

    def time_is_contiguous_in_channels_last(self, side):
        self.last.is_contiguous(tensix.channels_last)

    def time_empty_in_channels_last(self, side):
        tensix.empty(8, 3, side, side, memory_format=tensix.channels_last)
