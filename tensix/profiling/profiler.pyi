from collections.abc import Callable, Collection
from os import PathLike
from typing import Any, NamedTuple, ParamSpec, Protocol, Self, TypeAlias, TypeVar, overload

from typing_extensions import disjoint_base

from tensix.memory.call_site import Frame

__all__ = ["CopyRow", "Profile", "ProfileRow", "copies", "profile"]

_P = ParamSpec("_P")
_R_co = TypeVar("_R_co", covariant=True)
_Packages: TypeAlias = Collection[str | PathLike[str]]

class ProfileRow(NamedTuple):
    """Say what one line allocated."""
    place: Frame
    peak_bytes: int
    total_bytes: int
    total_count: int
    current_bytes: int
    current_count: int

class CopyRow(NamedTuple):
    """Say what one line copied."""
    place: Frame
    nbytes: int
    times: int

class _Profiled(Protocol[_P, _R_co]):
    last_profile: Profile
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...

@disjoint_base
class Profile:
    """Hold what each line allocated; `profile` makes one."""
    def __init__(self, quiet: bool = False, through: _Packages | None = None) -> None: ...
    @property
    def quiet(self) -> bool: ...
    @property
    def rows(self) -> list[ProfileRow]: """A `ProfileRow` for each line that allocated, the highest peak first."""
    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, which `json` can write: those of all lines together, and ``"rows"``."""
    def _repr_html_(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...
    def __call__(self, function: Callable[_P, _R_co]) -> _Profiled[_P, _R_co]: ...

@overload
def profile(function: None = None, *, quiet: bool = False, through: _Packages | None = None) -> Profile: ...
@overload
def profile(
    function: Callable[_P, _R_co], *, quiet: bool = False, through: _Packages | None = None
) -> _Profiled[_P, _R_co]: ...

@disjoint_base
class copies:
    """Find the lines at which copy-on-write had to copy, in a scope."""
    def __init__(self, through: _Packages | None = None) -> None: ...
    @property
    def rows(self) -> list[CopyRow]: """A `CopyRow` for each line, the most bytes first."""
    @property
    def nbytes(self) -> int: """Bytes copied."""
    @property
    def count(self) -> int: """How often something was copied."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...
