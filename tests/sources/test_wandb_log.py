"""The framing of W&B logs: blocks, checksums, every kind of damage, and that damage never makes up a record."""

import io
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.sources import wandb_log
from gangline.sources.wandb_log import Damage, LogRecords
from tests.sources.wandb_writer import BLOCK, FIRST, FULL, HEADER, LAST, MIDDLE, fragment, framed


def read(data: bytes) -> tuple[list[bytes], Damage | None]:
    log = LogRecords(io.BytesIO(data))
    return list(log), log.damage


@cache
def long_log() -> tuple[tuple[bytes, ...], bytes]:
    """Records of many lengths over four blocks, one of them longer than a block."""
    lengths = [0, 1, 30, 40_000, 5, 700, 9_000, 3, 70_000, 12, 250]
    records = tuple(bytes([65 + place]) * length for place, length in enumerate(lengths))
    return records, framed(records)


class TestWholeLogs:
    def test_records_over_several_blocks_come_back(self) -> None:
        records, data = long_log()
        assert len(data) > 3 * BLOCK
        assert read(data) == (list(records), None)

    @pytest.mark.parametrize("room", range(12))
    def test_block_ends_with_little_room(self, room: int) -> None:
        """Fewer than 7 bytes are padding; exactly 7 hold a header without data."""
        first = b"a" * (BLOCK - len(HEADER) - 7 - room)
        assert read(framed([first, b"second"])) == ([first, b"second"], None)

    def test_the_file_header_stands_inside_the_first_block(self) -> None:
        data = framed([b"a" * BLOCK])
        assert data[len(HEADER) + 6] == FIRST
        assert data[BLOCK + 6] == LAST

    def test_a_log_of_a_header_alone_is_whole(self) -> None:
        assert read(HEADER) == ([], None)


class TestHeaders:
    def test_another_format_is_named(self) -> None:
        assert LogRecords(io.BytesIO(HEADER[:-1] + b"\x03" + b"x" * 9)).header_fault() == (
            "a W&B log of format 3, this version reads format 0: export the run's history instead"
        )

    def test_another_file_is_named(self) -> None:
        fault = LogRecords(io.BytesIO(b"PK\x03\x04 zip archive")).header_fault()
        assert fault is not None
        assert fault.startswith("no W&B log (it does not begin with ':W&B')")

    def test_a_log_cut_in_its_header_is_truncated(self) -> None:
        log = LogRecords(io.BytesIO(HEADER[:4]))
        assert log.header_fault() is None
        assert list(log) == []
        assert log.damage == Damage("truncated", 0, 4, "the log ends inside the file's header")


class TestDamage:
    def test_cut_inside_a_record(self) -> None:
        data = framed([b"one", b"two"])
        assert read(data[:-1]) == ([b"one"], Damage("truncated", 17, 9, "the log ends inside a record"))

    def test_cut_inside_a_header(self) -> None:
        data = framed([b"one", b"two"])
        assert read(data[:20]) == ([b"one"], Damage("truncated", 17, 3, "the log ends inside a record's header"))

    def test_cut_between_the_parts_of_a_record_counts_from_its_first(self) -> None:
        data = framed([b"one", b"x" * 40_000])
        damage = Damage("truncated", 17, BLOCK - 17, "the log ends inside a record")
        assert read(data[:BLOCK]) == ([b"one"], damage)

    def test_zero_padding_is_no_damage_to_a_record(self) -> None:
        data = framed([b"one"]) + bytes(2 * BLOCK)
        assert read(data) == ([b"one"], Damage("zero_padded", 17, 2 * BLOCK, "zeros to the file's end"))

    @pytest.mark.parametrize("zeros", [1, 6, 7, 8])
    def test_few_zeros(self, zeros: int) -> None:
        data = framed([b"one"]) + bytes(zeros)
        assert read(data) == ([b"one"], Damage("zero_padded", 17, zeros, "zeros to the file's end"))

    def test_zeros_in_the_middle_of_a_record_are_truncation(self) -> None:
        data = framed([b"one", b"x" * 40_000])[:BLOCK] + bytes(100)
        damage = Damage("truncated", 17, BLOCK + 83, "zeros to the file's end")
        assert read(data) == ([b"one"], damage)

    def test_zeros_before_data_are_corruption(self) -> None:
        data = framed([b"one"]) + bytes(50) + fragment(FULL, b"two")
        assert read(data) == ([b"one"], Damage("corrupt", 17, 60, "zeros where a record should begin"))

    def test_flipped_bit(self) -> None:
        data = bytearray(framed([b"one", b"two", b"three"]))
        data[25] ^= 4
        assert read(bytes(data)) == ([b"one"], Damage("corrupt", 17, 22, "a record's checksum is wrong"))

    @pytest.mark.parametrize("kinds", [(MIDDLE,), (LAST,), (FIRST, FULL), (FIRST, FIRST), (FULL, MIDDLE), (0,), (5,)])
    def test_parts_out_of_order(self, kinds: tuple[int, ...]) -> None:
        data = HEADER + b"".join(fragment(kind, b"abc") for kind in kinds)
        _, damage = read(data)
        assert damage is not None
        assert (damage.kind, damage.what) == ("corrupt", "a record's parts are out of order")

    def test_a_record_without_end_stops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wandb_log, "MAX_RECORD_BYTES", 1_000)
        data = HEADER + fragment(FIRST, b"a" * 600) + fragment(MIDDLE, b"a" * 600) + fragment(MIDDLE, b"a" * 600)
        assert read(data) == ([], Damage("corrupt", 7, len(data) - 7, "a record without end"))


def check_prefix(data: bytes) -> None:
    """What is read is the original's beginning, and what is left is counted to the last byte."""
    records, _ = long_log()
    log = LogRecords(io.BytesIO(data))
    if log.header_fault() is not None:
        return
    found = list(log)
    assert found == list(records[: len(found)])
    if log.damage is not None:
        assert log.damage.at_byte + log.damage.bytes_unread == len(data)
    elif len(found) < len(records):
        assert data in (b"", framed(records[: len(found)]))


@settings(max_examples=150, deadline=None)
@given(st.integers(min_value=0))
def test_any_cut_gives_the_records_before_it(place: int) -> None:
    data = long_log()[1]
    check_prefix(data[: place % (len(data) + 1)])


@settings(max_examples=150, deadline=None)
@given(st.integers(min_value=0), st.integers(1, 255))
def test_any_flip_gives_the_records_before_it(place: int, mask: int) -> None:
    data = bytearray(long_log()[1])
    data[place % len(data)] ^= mask
    check_prefix(bytes(data))


@settings(max_examples=100, deadline=None)
@given(st.integers(min_value=0), st.binary(max_size=40))
def test_any_insertion_gives_the_records_before_it(place: int, added: bytes) -> None:
    data = long_log()[1]
    at = place % (len(data) + 1)
    check_prefix(data[:at] + added + data[at:])
