"""Let state machines do at random to tensix and to plain-Python models the same, and compare after each step.

``python run.py [--runs 1000] [--steps 50] [--seed N] [NAME ...]``; then each mutation of a model must be caught: a
mistake that is made in it on purpose, so that the two differ.
"""

import argparse
import contextlib
import importlib
import io
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import Machine

NAMES = ["allocators", "cache", "copy_on_write", "deleters", "ownership", "registry", "views"]
MOST = 500  # runs until a mutation is caught


def go(name, runs, steps, first, phases=(Phase.generate, Phase.shrink)):
    """Run one machine; return how many steps it took."""
    machine = importlib.import_module(name).MACHINE
    Machine.steps = 0
    run_state_machine_as_test(
        machine if first is None else seed(first)(machine),
        settings=settings(
            max_examples=runs, stateful_step_count=steps, phases=phases, derandomize=first is None, database=None,
            deadline=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
    return Machine.steps


def is_caught(name, mutation, steps, first):
    """Return whether the machine finds out that the model is mistaken."""
    owner, method, mistake = mutation
    with mock.patch.object(owner, method, mistake), contextlib.redirect_stdout(io.StringIO()):
        try:
            go(name, MOST, steps, first, phases=(Phase.generate,))
        except (AssertionError, pytest.fail.Exception):
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="*")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int)
    options = parser.parse_intermixed_args()
    for name in options.name or NAMES:
        start = time.perf_counter()
        steps = go(name, options.runs, options.steps, options.seed)
        print(f"{name}: {options.runs:,} runs, {steps:,} steps hold, {time.perf_counter() - start:.0f} s", flush=True)
        for what, mutation in importlib.import_module(name).MUTATIONS.items():
            if not is_caught(name, mutation, options.steps, options.seed):
                sys.exit(f"{name}: holds although {what}: the machine cannot tell")
            print(f"{name}: caught: {what}", flush=True)


if __name__ == "__main__":
    with ThreadPoolExecutor(1) as thread:  # in which, without the GIL, the machines' cache has blocks in front
        thread.submit(main).result()
