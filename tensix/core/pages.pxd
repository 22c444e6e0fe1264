"""Private: the functions of ``pages.h``."""

cdef extern from "tensix/core/pages.h" nogil:
    enum:
        TX_MAP_READ_ONLY
        TX_MAP_PRIVATE
        TX_MAP_SHARED
    void* tx_map_pages(size_t nbytes)
    void tx_unmap_pages(void* address, size_t nbytes)
    void tx_keep_pages(void** base, size_t* nbytes, const void* first, const void* last)
    void* tx_map_file(int descriptor, size_t offset, size_t nbytes, int kind)
    void tx_unmap_file(void* address, size_t nbytes)
    bint tx_read_bytes(void* to, const void* source, size_t nbytes)
    size_t tx_page_bytes()
    size_t tx_huge_page_bytes()
    int tx_populate(void* address, size_t nbytes)
    size_t tx_resident_bytes(void* address, size_t nbytes)
    int tx_is_untouched(void* address, size_t nbytes)
    void tx_trim_heap()
    int tx_discard_pages(void* address, size_t nbytes)
    void tx_advise_huge_pages(void* address, size_t nbytes)
    void tx_bind_to_node(void* address, size_t nbytes, int node)
