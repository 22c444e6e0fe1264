"""Recording what the tasks of a cluster do with memory, on one page; no engine is imported before it is used."""

from typing import TYPE_CHECKING

from tensix._support.loaded_later import loaded_later

if TYPE_CHECKING:
    from tensix.profiling.cluster import record
    from tensix.profiling.recorder import task

__all__ = ["record", "task"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = loaded_later(
        __name__, {"record": "..profiling.cluster", "task": "..profiling.recorder"}
    )  # fmt: skip
