"""Streaming JSON: places, pages, damage, bytes that are no UTF-8, and bounded memory."""

import io
import json
import tracemalloc

import pytest

from gangline.sources import json_buffer
from gangline.sources.json_buffer import JsonBuffer
from gangline.sources.json_items import JsonDamage, JsonItem, buffered_items, json_items

JOBS = [("jobs",)]


def items(text: str | bytes, paths: list[tuple[str, ...]] = JOBS) -> list[JsonItem | JsonDamage]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(json_items(io.BytesIO(data), paths))


def values(found: list[JsonItem | JsonDamage], path: tuple[str, ...] = ("jobs",)) -> list[object]:
    return [item.value for item in found if isinstance(item, JsonItem) and item.path == path]


@pytest.fixture(params=[json_buffer.CHUNK_BYTES, 7])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The real buffer, and one so small that every document is walked."""
    monkeypatch.setattr(json_buffer, "CHUNK_BYTES", request.param)
    return int(request.param)


@pytest.mark.usefixtures("chunk")
class TestPlaces:
    def test_items_then_the_rest_of_the_document(self) -> None:
        found = items('{"meta": {"v": [1]}, "jobs": [{"id": 10}, {"id": 20}], "errors": []}')
        assert found == [
            JsonItem(1, 1, ("jobs",), {"id": 10}),
            JsonItem(2, 1, ("jobs",), {"id": 20}),
            JsonItem(1, 1, (), {"meta": {"v": [1]}, "errors": []}),
        ]

    def test_nested_path(self) -> None:
        path = ("data", "list", "items")
        found = items('{"data": {"list": {"count": 2, "items": [12345678, -0.5e3]}}}', [path])
        assert values(found, path) == [12345678, -500.0]
        assert values(found, ()) == [{"data": {"list": {"count": 2}}}]

    def test_pages_in_a_row_and_in_an_array(self) -> None:
        for text in ('{"jobs": [1]}{"jobs": [2]}\n\n{"jobs": [3]}', '[{"jobs": [1]},\n {"jobs": [2]}, {"jobs": [3]}]'):
            found = items(text)
            assert values(found) == [1, 2, 3]
            assert values(found, ()) == [{}, {}, {}]

    def test_lines_keep_their_number(self) -> None:
        found = items('\ufeff{"a": 1}\r\n\n{"a": 2}\r\n', [])
        assert found == [JsonItem(1, 1, (), {"a": 1}), JsonItem(2, 3, (), {"a": 2})]

    @pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
    def test_nothing(self, text: str) -> None:
        assert items(text) == []

    @pytest.mark.parametrize("value", [None, {}, 3])
    def test_a_wanted_place_without_an_array_stays_in_the_document(self, value: object) -> None:
        assert values(items(json.dumps({"jobs": value})), ()) == [{"jobs": value}]

    def test_empty_containers(self) -> None:
        assert items("[]") == []
        assert items('{"jobs": []}') == [JsonItem(1, 1, (), {})]

    def test_odd_numbers_and_text(self) -> None:
        found = values(
            items('[1e400, NaN, -Infinity, "a\\u0000b", "\\ud83d\\ude00", "\\ud800x", "two\nlines"]', []), ()
        )
        assert found[0] == float("inf")
        assert found[2:] == [float("-inf"), "a\x00b", "😀", "\ufffdx", "two\nlines"]
        assert values(items("[" + "9" * 5000 + ", 1]", []), ()) == [float("inf"), 1]


@pytest.mark.usefixtures("chunk")
class TestDamage:
    def test_a_cut_file_gives_every_whole_item(self) -> None:
        text = json.dumps({"jobs": [{"id": i, "name": "n" * 9} for i in range(5)]})
        for cut in range(len('{"jobs": ['), len(text)):
            found = items(text[:cut])
            whole = text[:cut].count("}")
            assert len(values(found)) == min(whole, 5)
            assert [type(item) for item in found[len(values(found)) :]] == [JsonDamage]

    def test_a_cut_page_does_not_spoil_the_next(self) -> None:
        page = '{\n  "jobs": [\n    {\n      "name": "a"\n    },\n    {\n      "name": "b'
        found = items(page + '\n{\n  "jobs": [\n    {\n      "name": "c"\n    }\n  ]\n}\n')
        assert values(found) == [{"name": "a"}, {"name": "c"}]
        assert [item.line for item in found if isinstance(item, JsonDamage)] == [9]

    def test_a_bad_line_costs_itself(self) -> None:
        found = items('{"a": 1}\n{"a": oops}\n{"a": 3}\n{"a"', [])
        assert values(found, ()) == [{"a": 1}, {"a": 3}]
        damage = [item for item in found if isinstance(item, JsonDamage)]
        assert [item.line for item in damage] == [2, 4]
        assert damage[1].reason == "the file ends inside a value"

    def test_a_bad_row_of_an_aggregate_costs_itself(self) -> None:
        found = items('[{"a": 1}, \n {"a": oops}, \n {"a": 3}, \n {"a": 4}]\n', [])
        assert values(found, ()) == [{"a": 1}, {"a": 3}, {"a": 4}]
        assert sum(isinstance(item, JsonDamage) for item in found) == 1

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"jobs": [' + '{"a":' * 50_000])
    def test_nesting_without_end(self, text: str) -> None:
        found = items(text)
        assert len(found) == 1
        assert isinstance(found[0], JsonDamage)
        assert len(found[0].text) <= 500

    @pytest.mark.parametrize("text", ["nonsense", "}", '"open', "<html>", '{"jobs": [1 2]}', "{1: 2}", '{"a" 1}'])
    def test_no_json(self, text: str) -> None:
        assert [type(item) for item in items(text) if not isinstance(item, JsonItem)] == [JsonDamage]


@pytest.mark.usefixtures("chunk")
def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    buffer = JsonBuffer(io.BytesIO(b'{"jobs": ["caf\xe9", "\xff\xfe", "\xed\x95\x9c"]}'))
    found = list(buffered_items(buffer, JOBS))
    assert values(found) == ["caf\ufffd", "\ufffd\ufffd", "한"]
    assert buffer.replaced_count == 3


def test_memory_is_bounded_by_an_item_not_by_the_document() -> None:
    class Endless(io.RawIOBase):
        """A document of 100,000 items of about 1 kB, made as it is read."""

        made = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            if self.made > 20_000:
                return b""
            start, self.made = self.made, self.made + 200
            head = b'{"jobs": [' if start == 0 else b""
            body = b",".join(b'{"id": %d, "text": "%s"}' % (i, b"x" * 1000) for i in range(start, start + 200))
            return head + body + (b"," if self.made <= 20_000 else b"]}")

    tracemalloc.start()
    count = sum(1 for _ in json_items(Endless(), JOBS))  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_200 + 1
    assert peak < 8_000_000
