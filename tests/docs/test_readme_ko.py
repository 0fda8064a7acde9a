"""The Korean README says the same: headings by count, level and order, commands, tables, pages and links are equal."""

import re

from tests.conftest import ROOT
from tests.docs.commands import BLOCK

ENGLISH = (ROOT / "README.md").read_text("utf-8")
KOREAN = (ROOT / "README.ko.md").read_text("utf-8")
COMMENT = re.compile(r"\s+# .*$", re.MULTILINE)
OTHER = {"README.md", "README.ko.md"}


def order(text: str) -> list[str]:
    """Headings by level, blocks, table rows by width, and list items, in their order."""
    prose = BLOCK.sub("@block\n", text)
    marks = re.findall(r"^(#+ |@block|\||- |!\[)(.*)$", prose, re.MULTILINE)
    return [f"| x {rest.count('|')}" if mark == "|" else mark.strip() for mark, rest in marks]


def test_headings_tables_blocks_and_lists_stand_in_the_same_order() -> None:
    assert order(KOREAN) == order(ENGLISH)
    assert order(ENGLISH).count("##") >= 8


def test_commands_are_the_same_but_for_their_comments() -> None:
    korean, english = ([COMMENT.sub("", block) for block in BLOCK.findall(text)] for text in (KOREAN, ENGLISH))
    assert korean == english


def test_pages_are_the_same() -> None:
    korean, english = (re.findall(r"^\| (\d\d_\w+) \|", text, re.MULTILINE) for text in (KOREAN, ENGLISH))
    assert korean == english


def test_links_and_code_are_the_same() -> None:
    korean, english = (
        sorted(set(re.findall(r"\]\(([^)]+)\)", text)) - OTHER | set(re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))))
        for text in (KOREAN, ENGLISH)
    )
    assert korean == english


def test_it_is_korean() -> None:
    paragraphs = [part for part in re.split(r"\n\n", BLOCK.sub("", KOREAN)) if re.match(r"\w", part)]
    assert [part for part in paragraphs if not re.search(r"[가-힣]", part)] == []
