"""What kernels are made of: walking over elements, conversion, copies, threads, the inner loops of NumPy."""
