"""Kernels: what an operator's table holds.

Note [How a kernel is called]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A kernel is a C function of three: the kernel itself, the operator's table, and the arguments, all that the schema
declares and in its order. What a call leaves out is filled in before, by the table and from the schema: no kernel knows
a default or counts arguments. They are borrowed, since the caller holds them. Where the schema says Tensor there is
one; everything else a kernel checks itself, for methods of tensors pass on what they are given.

Callers in C pass up to two arguments by an array on the stack, into which the table copies the defaults of up to four
more (`OperatorTable.call1`, `call2`, `call_with`); all others bind a tuple and a dict (`OperatorTable.call`), and the
array is that of the tuple. Python callables get them back as a tuple and a dict (`ArgumentParser.unbind`).

Two kinds of calls have a shorter way. `empty`, and what fills a new tensor, take sizes, type and device as C numbers,
as their callers have them. As a tuple of ints and objects for type and device, only to be taken apart again, ``empty(3,
4)`` takes 7,098 instructions in place of 1,716. And an operator with a number on one side, as ``x + 1``, takes it as
an element of the tensor's type on the stack, for which no memory is allocated; a kernel that has nothing for that type
returns None, and is called with two tensors.
"""

import cython
from cython.cimports.tensix.dispatch.kernel import arguments_t

__all__ = ["Kernel", "fallthrough"]


class Kernel:
    """Run an operator for one key, by a C function; the base of all kernels."""

    def __cinit__(self):
        self.function = refuse

    def __repr__(self):
        return self.name or type(self).__name__


@cython.cfunc
def refuse(self: Kernel, table, args: arguments_t):
    raise NotImplementedError(f"{self!r} cannot be called.")


def Kernel_of(name, function, variant=0):
    kernel: Kernel = Kernel.__new__(Kernel)
    kernel.name, kernel.function, kernel.variant = name, function, variant
    return kernel


fallthrough = Kernel_of("fallthrough", refuse)  # its key is masked out of every call, so it is never called
cython.cast(Kernel, fallthrough).serves_any = True
