"""Keys are found on their lines, whatever the values hold."""

from gangline.config.lines import key_lines, line_of

TEXT = '''
# [commented]
[cluster]
name = "a # ] b"
nodes = [
  "gpu[001-002]", # tail ]
  "x",
]
note = """
[retries]
delay_min = 1
"""
"quoted key" = 1
dotted.inner = 2
[[sources]]
kind = 'a'
[[sources]]
kind = { x = "[", y = 1 }
[a.b]
c = 1
'''


def test_every_key_has_its_line() -> None:
    lines = key_lines(TEXT)
    assert lines == {
        ("cluster",): 3,
        ("cluster", "name"): 4,
        ("cluster", "nodes"): 5,
        ("cluster", "note"): 9,
        ("cluster", "quoted key"): 13,
        ("cluster", "dotted", "inner"): 14,
        ("sources", 0): 15,
        ("sources", 0, "kind"): 16,
        ("sources", 1): 17,
        ("sources", 1, "kind"): 18,
        ("a", "b"): 19,
        ("a", "b", "c"): 20,
    }


def test_a_key_without_a_line_takes_its_tables() -> None:
    lines = key_lines(TEXT)
    assert line_of(("sources", 1, "path"), lines) == 17
    assert line_of(("cluster", "nodes", 0), lines) == 5
    assert line_of(("nowhere",), lines) is None
