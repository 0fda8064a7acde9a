"""Text in an encoding that no reader takes, refused before one sees it."""

from gangline.sources.files import InputFile
from gangline.sources.read_log import SourceRefusedError


def refuse_utf16(file: InputFile) -> None:
    """Raises SourceRefusedError where a file begins with a UTF-16 mark."""
    if file.is_utf16():
        raise SourceRefusedError(f"{file.path}:1: this is UTF-16 text: save the file as UTF-8")
