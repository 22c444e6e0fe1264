"""What is raised for files that are not as their format wants them."""

from tensix._support.argument_errors import names_signature

__all__ = ["FileFormatError"]

PARSER_ERRORS = (
    ArithmeticError, AttributeError, EOFError, LookupError, NotImplementedError, RecursionError,
    SyntaxError, SystemError, TypeError, ValueError,
)  # fmt: skip; SystemError is what the tokenizer of CPython 3.13.0 makes of a null byte
MOST_REASON = 300  # letters of an error: a hostile header may have names of megabytes


class FileFormatError(ValueError):
    """Say that a file is not what its suffix or its header claims: malformed, cut short or changed.

    Examples
    --------
    >>> import pathlib, tempfile, tensix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.safetensors")
    >>> _ = path.write_bytes(b"short")
    >>> try:
    ...     tensix.load(path)
    ... except tensix.FileFormatError as error:
    ...     print(str(error).partition(": ")[2])
    it has 5 bytes, a header alone takes 8 and more.
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, message: str) -> None:  # for its signature: inspect finds none of ValueError
        super().__init__(message)


class blaming:  # noqa: N801  it reads as a word of a with statement
    """Turn whatever a parser raises at bytes that it does not like into a `FileFormatError` that names the file.

    Parameters
    ----------
    path : str
        The file, or the place in it.
    kind : str
        Of files.
    also : tuple of type, optional
        What the parser of that kind raises beside Python's own errors.

    Notes
    -----
    A class: what a generator raises in its place may keep the frames of the error, and the file in them, alive until
    cycles are collected.
    """

    def __init__(self, path: str, kind: str, also: tuple[type[Exception], ...] = ()):
        self.path, self.kind, self.errors = path, kind, PARSER_ERRORS + also

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, self.errors) and not isinstance(error, FileFormatError):
            reason = str(error).partition("\n")[0][:MOST_REASON] or type(error).__name__
            raise FileFormatError(f"{self.path} is not a {self.kind} file that can be read: {reason}") from None
