__all__ = ["get_num_threads", "set_num_threads"]

def set_num_threads(n: int) -> None: """Let large operations use so many threads, the calling one included."""
def get_num_threads() -> int: """Return how many threads large operations use, the calling one included."""
