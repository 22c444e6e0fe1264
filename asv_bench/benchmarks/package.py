"""What importing costs a program that has NumPy loaded already; each sample is a fresh interpreter."""


def timeraw_import_tensix():
    return "import tensix", "import numpy"


def timeraw_import_core():
    return "import tensix.core", "import numpy"


for benchmark in (timeraw_import_tensix, timeraw_import_core):
    benchmark.number = 1  # a second import would be a dictionary lookup
    benchmark.repeat = 10
