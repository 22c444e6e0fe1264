// The peers of loops.pyx: the same work on c10::intrusive_ptr, where the compiler sees every line of it.
#include <c10/util/intrusive_ptr.h>

namespace {

struct Target final : c10::intrusive_ptr_target {};

// Makes the compiler believe that somebody looks, so that nothing is optimised away.
template <class T>
void keep(const c10::intrusive_ptr<T>& pointer) {
  asm volatile("" : : "r"(pointer.get()) : "memory");
}

}  // namespace

template <class T>
void copy_destroy_as(long long times) {
  const c10::intrusive_ptr<T> pointer = c10::make_intrusive<Target>();
  for (long long i = 0; i < times; ++i) {
    auto copy = pointer;
    keep(copy);
  }
}

extern "C" void copy_destroy(long long times) {
  copy_destroy_as<Target>(times);
}

// A pointer typed as the base looks after a Python object, as those to tensors and storages do.
extern "C" void copy_destroy_with_python(long long times) {
  copy_destroy_as<c10::intrusive_ptr_target>(times);
}

extern "C" void make_destroy(long long times) {
  for (long long i = 0; i < times; ++i) {
    keep(c10::make_intrusive<Target>());
  }
}
