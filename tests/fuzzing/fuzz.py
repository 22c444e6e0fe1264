"""Give targets bytes: those of the corpus, mutations of them, and with atheris what reaches new lines.

``python fuzz.py replay [--mutations 1000] [--seed 0] [TARGET ...]`` takes the corpus and as many mutations of it;
``python fuzz.py atheris TARGET -runs=100000`` goes on from the corpus by coverage, with libFuzzer's options; of the
compiled modules too if Clang has built them with ``TENSIX_SANITIZE=fuzzer-no-link`` and ``LD_PRELOAD`` is the
``ubsan_with_fuzzer.so`` in the folder that ``atheris.path()`` names;
``python fuzz.py seeds`` writes the corpus again. An input that finds a defect is left in a file that is named.
"""

import argparse
import hashlib
import importlib
import random
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

LOADED_LATER = (
    "files.formats", "files.npy", "files.npz", "files.safetensors", "files.raw_file", "files.tensor_file",
    "memory.snapshot_file", "memory.advice", "memory.timeline",
)  # fmt: skip
CORPUS = Path(__file__).parent / "corpus"
EDGES = [b"\xff", b"\0", b"\x7f", b"\xff" * 4, b"\xff" * 8, bytes(8), b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80"]


def corpus_of(target):
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


def mutated(data, others, words, rng):
    """Return bytes with up to four changes: bits, words, spans that are doubled or lost, parts of another input."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = int(len(data) * rng.random() ** rng.choice((1, 2)))  # more often in the header
        span, kind = rng.choice((1, 1, 2, 4, 8, 20)), rng.randrange(7)
        if kind == 0 and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + rng.randbytes(span) + data[at + span :]
        elif kind in {2, 3}:
            word = rng.choice(words)
            data = data[:at] + word + data[at + (len(word) if kind == 2 else 0) :]
        elif kind == 4:
            data = data[:at] + data[at + span :]
        elif kind == 5:
            data = data[: at + span] + data[at:]
        else:
            other = rng.choice(others)
            data = data[:at] + other[rng.randrange(len(other) + 1) :]
    return data


def tried(target, function, data):
    """Call a target; keep the input of a defect."""
    try:
        return function(data)
    except BaseException:
        name = Path(tempfile.gettempdir()) / f"defect-{target}-{hashlib.sha1(data).hexdigest()[:10]}"
        name.write_bytes(data)
        print(f"{target}: defect in {name}", flush=True)
        raise


def replay(names, mutations, seed, goes_on):
    from targets import TARGETS, WORDS  # noqa: PLC0415

    defects = 0
    for name in names or TARGETS:
        rng, corpus = random.Random(f"{seed} {name}"), corpus_of(name)
        counts = [0, 0]
        last = Path(tempfile.gettempdir()) / f"last-{name}"  # what ended the process, if one did
        for n in range(len(corpus) + mutations):
            is_seed = n < len(corpus)
            data = corpus[n] if is_seed else mutated(rng.choice(corpus), corpus, WORDS.get(name, []) + EDGES, rng)
            if goes_on:
                last.write_bytes(data)
            try:
                counts[tried(name, TARGETS[name], data)] += 1
            except Exception:
                if not goes_on:
                    raise
                defects += 1
                traceback.print_exc()
                if defects > 20:
                    return 1
        print(f"{name}: {len(corpus)} of the corpus, {mutations} mutations: {counts[1]} valid, {counts[0]} refused",
              flush=True)  # fmt: skip
    return int(defects > 0)


def by_coverage(arguments):
    import atheris  # noqa: PLC0415

    name = arguments[0]
    with atheris.instrument_imports(include=["tensix", "targets"]):
        from targets import TARGETS  # noqa: PLC0415

        for module in LOADED_LATER:
            importlib.import_module(f"tensix.{module}")
    with tempfile.TemporaryDirectory() as found:
        atheris.Setup([sys.argv[0], *arguments[1:], found, str(CORPUS / name)], lambda data: tried_once(name, data))
        TARGET[:] = [TARGETS[name]]
        atheris.Fuzz()


TARGET = []


def tried_once(name, data):
    tried(name, TARGET[0], data)


def write_seeds():
    from targets import seeds  # noqa: PLC0415

    for name, contents in seeds().items():
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        for data in contents:
            (CORPUS / name / hashlib.sha1(data).hexdigest()[:10]).write_bytes(data)


def main():
    warnings.simplefilter("ignore")  # NumPy's about headers, Python's about literals
    # pickle's reader and NumPy's take what a number in a file asks for, and zero it.
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    if sys.argv[1:2] == ["atheris"]:
        return by_coverage(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["replay", "seeds"])
    parser.add_argument("target", nargs="*")
    parser.add_argument("--mutations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--go-on", action="store_true", help="after a defect")
    options = parser.parse_intermixed_args()
    if options.what == "seeds":
        return write_seeds()
    return replay(options.target, options.mutations, options.seed, options.go_on)


if __name__ == "__main__":
    sys.exit(main())
