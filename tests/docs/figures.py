"""Writes docs/figures.md from the catalogue: `python -m tests.docs.figures`."""

from gangline.report.catalogue import CATALOGUE
from tests.conftest import ROOT

HEAD = """# Every figure by its id

`figures.json` beside each window's pages holds these, with value, unit, n, interval (low, high, level), method, the
reason where there is no value, and the value of the window before. Ids are stable: a figure may be added, never renamed
without a major version. An id that ends in `.<stage>` or `.<kind>` stands once for each. How each is defined: the page
that shows it, and [GLOSSARY.md](../GLOSSARY.md) for the words.

| id | what it is | how it counts |
| --- | --- | --- |
"""


def main() -> None:
    """Writes the page."""
    rows = [f"| `{name}` | {entry.label} | {entry.definition} |\n" for name, entry in CATALOGUE.items()]
    (ROOT / "docs" / "figures.md").write_text(HEAD + "".join(rows))


if __name__ == "__main__":
    main()
