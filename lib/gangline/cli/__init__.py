"""The command line: thin over the package."""

from gangline.cli.application import main

__all__ = ["main"]
