"""What all allocators over another one share: a node around each of its blocks."""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdlib cimport free
from tensix.core.allocator cimport Allocator, Allocator_allocate
from tensix.core.data_ptr cimport (
    data_ptr_destroy,
    data_ptr_destroy_with_gil,
    data_ptr_init,
    data_ptr_operations_t,
    data_ptr_t,
)
from tensix.core.python_reference cimport drop_python_reference

cdef enum:
    MAX_SPARE_NODES = 64


cdef struct adapted_block_t:
    data_ptr_t block      # upstream's; owned
    PyObject* adaptor     # owned
    void* state           # whatever of the adaptor its deleter needs, inside the adaptor
    void* note            # whatever the adaptor writes down about this block; of a spare node, the next one
    size_t nbytes         # asked for
    size_t front          # bytes of upstream's block before what is handed out


cdef class Adaptor(Allocator):
    cdef readonly Allocator upstream
    cdef const data_ptr_operations_t* operations  # of all its blocks, or NULL if it hands upstream's on as they are
    cdef void* state                              # what its blocks get to know of it
    cdef int spare_node_count
    cdef adapted_block_t* spare_nodes
    # The work of allocate(); an adaptor overrides this.
    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1


# Private to tensix.
cdef size_t alignment_of(Allocator allocator) except 0
cdef object cached_bytes(Allocator allocator)
cdef adapted_block_t* new_node() except NULL
cdef void adapted_block_move_up(adapted_block_t* node, size_t nbytes, data_ptr_t* out) noexcept nogil
cdef dict adapted_block_facts(void* node)


cdef inline adapted_block_t* Adaptor_take(Adaptor self, size_t nbytes, size_t padded, data_ptr_t* out) except? NULL:
    """Ask upstream for `padded` bytes and hand out `nbytes` of them in a node; NULL for a null block.

    Upstream fills in the node's own struct: to copy one that was just written takes longer than to write it.
    """
    cdef adapted_block_t* node = self.spare_nodes
    cdef bint is_block = False
    if node == NULL:
        node = new_node()
    else:
        self.spare_nodes = <adapted_block_t*>node.note
        self.spare_node_count -= 1
    try:
        Allocator_allocate(self.upstream, padded, &node.block)
        is_block = node.block.ctx != NULL or node.block.data != NULL
        if not is_block:
            out[0] = node.block  # null, and the device that it would have been on
    finally:
        if not is_block:
            Adaptor_keep(self, node)
    if not is_block:
        return NULL
    Py_INCREF(self)
    node.adaptor, node.state, node.note = <PyObject*>self, self.state, NULL
    node.nbytes, node.front = nbytes, 0
    data_ptr_init(out, node.block.data, node, self.operations)
    out.device_type, out.device_index = node.block.device_type, node.block.device_index
    return node


cdef inline void Adaptor_keep(Adaptor self, adapted_block_t* node) noexcept nogil:
    """Keep a node for the next block; with the GIL."""
    if self.spare_node_count < MAX_SPARE_NODES:
        node.note = self.spare_nodes
        self.spare_nodes = node
        self.spare_node_count = self.spare_node_count + 1
    else:
        free(node)


cdef inline void adapted_block_free(adapted_block_t* node, bint has_gil) noexcept nogil:
    """Free upstream's block and the node; the last thing that an adaptor's deleter does."""
    cdef PyObject* adaptor = node.adaptor
    if has_gil:
        data_ptr_destroy_with_gil(&node.block)
        Adaptor_keep(<Adaptor>adaptor, node)
    else:
        data_ptr_destroy(&node.block)
        free(node)
    drop_python_reference(adaptor, has_gil)
