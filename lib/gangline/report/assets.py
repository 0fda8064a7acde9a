"""The files that every page carries: style, script, chart library, and the policy that lets only these run."""

import base64
import gzip
import hashlib
from functools import cache
from pathlib import Path

import gangline

PAGES = Path(gangline.__file__).parent / "pages"
LIBRARY = PAGES / "vega.js.gz"
LIBRARY_HASH = PAGES / "vega.js.sha256"
POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)


@cache
def style() -> str:
    """Read the pages' style sheet."""
    return (PAGES / "report.css").read_text("utf-8")


@cache
def script() -> str:
    """Read the pages' script."""
    return (PAGES / "report.js").read_text("utf-8")


@cache
def library() -> str:
    """Read the packed chart library as base64, to be unpacked by the page's script on demand."""
    return base64.b64encode(LIBRARY.read_bytes()).decode("ascii")


@cache
def policy() -> str:
    """Write the content security policy: our script and the chart library by their hashes, and nothing from anywhere.

    The hashes come from the shipped files, never from a finished page, which could hold a script of someone else's.
    """
    hashes = (script_hash(script()), LIBRARY_HASH.read_text("utf-8").strip())
    return POLICY.format(scripts=" ".join(f"'{each}'" for each in hashes))


def script_hash(source: str) -> str:
    """Write the hash of a script's text as a policy holds it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode('ascii')}"


def make_library() -> None:
    """Make the packed chart library and its hash again, when the drawing library has a new version."""
    import vl_convert

    source = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]
    LIBRARY.write_bytes(gzip.compress(source.encode(), compresslevel=9, mtime=0))
    LIBRARY_HASH.write_text(f"{script_hash(source)}\n", "utf-8")
