"""Private: what memory is made of, for those who explain it."""
from tensix.core.data_ptr cimport data_ptr_t, deleter_t

# Says what a deleter's context is, as a dict; with the GIL. Memory inside it comes under "block", by data_ptr_facts.
ctypedef dict (*context_facts_t)(void* ctx)

cdef int name_deleter(deleter_t deleter, str name, str context, context_facts_t facts) except -1
cdef dict data_ptr_facts(const data_ptr_t* pointer)
