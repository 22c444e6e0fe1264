"""Invariants of tensix, each broken by one function. In a debug build none of them returns."""
from libc.stdint cimport uint64_t
from libc.string cimport memset
from tensix.core.combined_refcount cimport (
    alive_bit,
    dead_word,
    drop_weak_unit,
    incref_word,
    unique_word,
    weak_unit,
)
from tensix.core.data_ptr cimport data_ptr_destroy_with_gil, data_ptr_init, data_ptr_t
from tensix.core.export cimport end_export
from tensix.core.free_list cimport free_list_t, free_list_take
from tensix.core.handle cimport drop, own_new, retain
from tensix.core.intrusive_target cimport IntrusiveTarget, decref
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_end_use, StorageImpl_mutable_data
from tensix.loops.iterator cimport iterator_add, iterator_start, iterator_t
from tensix.tensors.dtype cimport itemsize_of
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_copy_dims, TensorImpl_const_data, TensorImpl_sizes

import numpy as np
import tensix


# ---- counts

def retain_without_owner():
    retain(IntrusiveTarget())


def drop_without_owner():
    drop(IntrusiveTarget())


def own_twice():
    pointer = tensix.make_intrusive(IntrusiveTarget)
    own_new(pointer.get())


def drop_the_count_of_a_handle():
    pointer = tensix.make_intrusive(IntrusiveTarget)
    decref(pointer.get())


def drop_a_weak_count_too_many():
    cdef uint64_t word = dead_word()
    drop_weak_unit(&word)


def count_beyond_32_bits():
    cdef uint64_t word = alive_bit() | weak_unit() | 0xFFFFFFFF
    incref_word(&word)


# ---- the GIL

def free_as_if_with_the_gil():
    cdef data_ptr_t block
    data_ptr_init(&block, NULL, NULL, NULL)
    with nogil:
        data_ptr_destroy_with_gil(&block)


# ---- blocks and storages

def write_in_front_of_a_block():
    storage = tensix.Storage(64)
    cdef StorageImpl impl = storage.impl
    memset(<char*>StorageImpl_mutable_data(impl) - 8, 0, 8)
    storage.reset()


def write_in_front_of_a_kept_block():
    storage = tensix.Storage(64)
    cdef char* data = <char*>StorageImpl_mutable_data(storage.impl)
    storage.reset()
    memset(data - 8, 0, 8)
    tensix.Storage(64)


def use_a_storage_without_owner():
    storage = tensix.Storage(64)
    cdef StorageImpl impl = storage.impl
    storage.reset()
    StorageImpl_mutable_data(impl)


def forget_the_flag_of_a_guard():
    cdef StorageImpl impl = tensix.Storage(64).impl
    impl.is_readonly = True
    impl.combined_refcount = unique_word()
    StorageImpl_mutable_data(impl)


def end_a_use_that_was_not_begun():
    storage = tensix.Storage(64)
    StorageImpl_end_use(storage.impl)


def end_an_export_that_was_not_begun():
    storage = tensix.Storage(64)
    end_export(storage.impl)


def take_from_an_empty_free_list():
    cdef free_list_t free_list
    free_list.count = 0
    free_list_take(&free_list)


# ---- geometry

def copy_dimensions_that_are_not_there():
    x = tensix.empty(2, 3)
    TensorImpl_copy_dims(x.impl, x.impl, 0, 1, 2)


def change_a_size_without_refreshing():
    x = tensix.empty(2, 3)
    TensorImpl_sizes(x.impl)[0] = 1
    TensorImpl_const_data(x.impl)


def look_beyond_the_storage():
    x = tensix.empty(2, 3)
    (<TensorImpl>x.impl).storage_offset = 1
    TensorImpl_const_data(x.impl)


def ask_for_the_size_of_no_type():
    itemsize_of(200)


def walk_over_too_many_operands():
    cdef iterator_t iterator
    x = tensix.empty(2, 3)
    iterator_start(&iterator, 2, TensorImpl_sizes(x.impl))
    for _ in range(5):
        iterator_add(&iterator, x.impl, TensorImpl_const_data(x.impl))


# ---- memory whose owner promised that it does not change

def write_promised_memory_before_a_copy():
    array = np.ones(3)
    clone = tensix.asarray(array, immutable=True).lazy_clone()
    array[0] = 2
    clone.add_(1)


def write_promised_memory_that_is_never_copied():
    array = np.ones(3)
    clone = tensix.asarray(array, immutable=True).lazy_clone()
    array[0] = 2
    del clone
