"""The shared reader: RFC 4180, physical lines, headers by name, and bad records that cost only themselves."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangline.sources import read_log, tables_csv
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.table_rows import Row
from gangline.sources.tables_csv import Columns, table_rows

CELLS = st.text(st.sampled_from('ab ,;"\n\r\tß한'), max_size=8)
COLUMNS = Columns(("name", "node"), ("note",))


class Table:
    """Reads bytes as a table and keeps the log."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "table.csv"
        self.log = ReadLog()

    def rows(self, content: bytes, delimiter: str | None = None) -> list[Row]:
        self.path.write_bytes(content)
        options = SourceOptions("sessions_csv", delimiter=delimiter)
        rows = list(table_rows(InputFile(self.path), options, self.log, COLUMNS))
        self.log.load(len(rows))
        assert self.log.is_balanced()
        return rows

    def cells(self, content: bytes, delimiter: str | None = None) -> list[dict[str, str]]:
        return [dict(row.cells) for row in self.rows(content, delimiter)]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_quoted_newlines_keep_physical_line_numbers(table: Table) -> None:
    rows = table.rows(b'name,node,note\na,n1,"one\ntwo\n\nfour"\n\nb,n2,"x, ""y"""\n')
    assert [(row.line, row.cells["note"]) for row in rows] == [(2, "one\ntwo\n\nfour"), (7, 'x, "y"')]
    assert table.log.records == 2


@pytest.mark.parametrize(("delimiter", "mark"), [(None, ","), (";", ";"), ("\t", "\t")])
def test_byte_order_mark_crlf_delimiter_and_header_case(table: Table, delimiter: str | None, mark: str) -> None:
    content = '\ufeffNODE,"Name", Note \r\nn1,한 ,"p\r\nq"\r\nn2,b,'.replace(",", mark).encode()
    first, second = table.rows(content, delimiter)
    assert (first.line, dict(first.cells)) == (2, {"node": "n1", "name": "한 ", "note": "p\r\nq"})
    assert (second.line, second.text("note"), second.word("name")) == (4, None, "b")


def test_ragged_rows_are_rejected_with_their_line(table: Table) -> None:
    assert table.cells(b"name,node\na,n1\nb,gpu[1,3]\nc\nd,n4\n") == [
        {"name": "a", "node": "n1"},
        {"name": "d", "node": "n4"},
    ]
    assert [(reject.line, reject.text) for reject in table.log.rejects] == [(3, "b,gpu[1,3]"), (4, "c")]
    assert table.log.rejects[0].reason == (
        "3 fields where the header has 2: quote a field that holds the delimiter, and keep empty ones"
    )


def test_a_ragged_record_of_several_lines_is_one_reject(table: Table) -> None:
    assert table.cells(b'name,node\na,"x\ny",z\nb,n2\n') == [{"name": "b", "node": "n2"}]
    assert [(reject.line, reject.text) for reject in table.log.rejects] == [(2, 'a,"x\ny",z')]


def test_a_quote_never_closed_costs_only_its_line(table: Table) -> None:
    assert [row.line for row in table.rows(b'name,node\na,n1\nb,"n2\nc,n3\nd,n4\n')] == [2, 4, 5]
    assert [(reject.line, reject.text) for reject in table.log.rejects] == [(3, 'b,"n2')]
    assert "double the quotes" in table.log.rejects[0].reason


def test_two_stray_quotes_cost_two_lines(table: Table) -> None:
    assert [row.line for row in table.rows(b'name,node\n"a,n1\nb,n2\n"c,n3\nd,n4\n')] == [3, 5]
    assert [reject.line for reject in table.log.rejects] == [2, 4]


def test_an_endless_field_is_cut_off_and_the_rest_read(table: Table) -> None:
    filler = b"b,n2\n" * 40_000
    assert len(table.rows(b'name,node\na,"n1\n' + filler)) == 40_000
    assert [reject.line for reject in table.log.rejects] == [2]


def test_a_quote_inside_an_unquoted_field_is_text(table: Table) -> None:
    assert table.cells(b'name,node\n5" disk,n1\n') == [{"name": '5" disk', "node": "n1"}]


def test_blank_rows_are_ignored_and_counted_where_they_hold_delimiters(table: Table) -> None:
    assert len(table.rows(b"name,node\n\n,\n  , \na,n1\n\n")) == 1
    assert table.log.ignored == {"blank_row": 2}


def test_unknown_columns_are_counted(table: Table) -> None:
    table.rows(b"\nname,node,colour,weight\na,n1,red,3\n")
    assert table.log.oddities == {"unknown_column": (2, 2)}


def test_invalid_utf8_is_replaced_and_counted(table: Table) -> None:
    assert table.cells(b"name,node\ncaf\xe9,n1\n") == [{"name": "caf�", "node": "n1"}]
    assert table.log.oddities == {"not_utf8": (1, 2)}


def test_ten_thousand_characters_and_a_nul_are_data(table: Table) -> None:
    name = "x" * 10_000 + "\0"
    assert table.cells(f"name,node\n{name},n1\n".encode()) == [{"name": name, "node": "n1"}]


def test_a_carriage_return_in_a_line_is_a_reject(table: Table) -> None:
    assert table.cells(b"name,node\na\rb,n1\nc,n2\n") == [{"name": "c", "node": "n2"}]
    assert table.log.rejects[0].reason.startswith("no CSV record begins here (new-line character seen")


@pytest.mark.parametrize(
    ("content", "delimiter", "message"),
    [
        (b"name,nod\n", None, ":1: no column 'node': did you mean 'nod'? Rename it"),
        (b"name,weight\n", None, ":1: no column 'node' among 'name', 'weight': add it"),
        (b"name;node\n", None, ":1: no column 'name': the header is one column; set delimiter = \";\" in this"),
        (b"name\tnode\n", None, 'set delimiter = "\\t" in this source\'s entry'),
        (b"name,node,NODE\n", None, ":1: the header has the column 'node' twice: rename one of them"),
        (b"", None, ":1: is empty: its first line must name name, node"),
        (b"\n\n", None, ":1: is empty"),
        (b"name,node\ra,n1\r", None, ":1: its lines end in a carriage return alone: save the file with LF or CRLF"),
        (b"\xff\xfen\0a\0", None, ":1: this is UTF-16 text: save the file as UTF-8"),
        (b'name,"node\n', None, ":1: the header is no CSV line: no CSV record begins here"),
        (b"name,node\n", "^|^", ": delimiter '^|^' is not one character"),
        (b"name,node\n", '"', ": delimiter '\"' is not one character"),
    ],
)
def test_files_that_are_no_such_table_are_refused(
    table: Table, content: bytes, delimiter: str | None, message: str
) -> None:
    with pytest.raises(SourceRefusedError) as refused:
        table.rows(content, delimiter)
    assert f"{table.path}" in str(refused.value)
    assert message in str(refused.value)


def test_tables_put_together_repeat_their_header(table: Table) -> None:
    assert table.cells(b"name,node\na,n1\nname,node\nb,n2\n") == [
        {"name": "a", "node": "n1"},
        {"name": "b", "node": "n2"},
    ]
    assert table.log.ignored == {"header": 1}


def test_a_record_of_endless_lines_costs_only_its_first(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_csv, "MAX_RECORD_LINES", 3)
    assert len(table.rows(b'name,node\na,"n1\n' + b"b,n2\n" * 10)) == 10
    assert [(reject.line, reject.reason[:45]) for reject in table.log.rejects] == [
        (2, "no CSV record begins here (more than 3 lines)")
    ]


def test_a_line_without_end_costs_only_itself(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_csv, "MAX_LINE_BYTES", 40)
    cells = table.cells(b"name,node\na,b\n" + b"x," * 40 + b"\nc,d\n")
    assert cells == [{"name": "a", "node": "b"}, {"name": "c", "node": "d"}]
    assert [(reject.line, reject.reason[:17]) for reject in table.log.rejects] == [(3, "a line of over 32")]


def test_very_many_rejects_are_counted_and_the_first_ones_listed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_log, "REJECTS_LISTED", 3)
    table.rows(b"name,node\n" + b"junk\n" * 10)
    assert [reject.line for reject in table.log.rejects] == [2, 3, 4]
    assert (table.log.rejected, table.log.oddities["rejects_not_listed"]) == (10, (7, 5))


def test_a_header_of_many_long_names_is_shown_in_part(table: Table) -> None:
    with pytest.raises(SourceRefusedError) as refused:
        table.rows(b",".join(b"%d" % number + b"x" * 200 for number in range(500)))
    assert len(str(refused.value)) < 800
    assert str(refused.value).endswith("', ...: add it")


def test_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_csv, "BATCH_ROWS", 2)
    rows = iter([{"line": line, "target": "n1"} for line in range(5)])
    assert [batch.frame.height for batch in tables_csv.batches("annotation_records", rows)] == [2, 2, 1]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=6))
def test_what_the_csv_module_writes_is_read_back(tmp_path: Path, cells: list[tuple[str, str]]) -> None:
    text = StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("name", "node"), *cells])
    wanted = [pair for pair in cells if any(map(str.strip, pair))]
    found = Table(tmp_path).rows(text.getvalue().encode())
    assert [(row.cells["name"], row.cells["node"]) for row in found] == wanted


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(alphabet='a,"\n\r ', max_size=60))
def test_any_damage_is_accounted_for_and_no_character_of_a_line_is_lost(tmp_path: Path, body: str) -> None:
    table = Table(tmp_path)
    rows = table.rows(b"name,node\n" + body.encode())
    lines = [row.line for row in rows] + [reject.line for reject in table.log.rejects]
    assert len(set(lines)) == len(rows) + table.log.rejected
    kept = [row.raw for row in rows] + [reject.text for reject in table.log.rejects]
    assert "".join(kept).count("a") == body.count("a")
