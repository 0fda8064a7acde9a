"""Compressed inputs read as they are, and say where they break off."""

import gzip
from pathlib import Path

import pytest
import zstandard

from gangline.sources.files import InputFile

TEXT = b"".join(b"line %d of a file that is long enough to fill several blocks\n" % n for n in range(20_000))


def _written(path: Path, content: bytes) -> InputFile:
    path.write_bytes(content)
    return InputFile(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_content_not_name_tells_the_packing(tmp_path: Path, pack) -> None:
    file = _written(tmp_path / "export.txt", pack(TEXT))
    lines = list(file.lines())
    assert b"".join(body + b"\n" for _, body in lines) == TEXT
    assert lines[-1][0] == 20_000
    assert file.damage == []


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_cut_file_gives_what_comes_before_the_cut(tmp_path: Path, pack) -> None:
    file = _written(tmp_path / "cut", pack(TEXT)[:-2000])
    read = b"".join(body + b"\n" for _, body in file.lines())
    assert 0 < len(read) < len(TEXT)
    assert TEXT.startswith(read[:-1])
    assert len(file.damage) == 1


def test_garbage_behind_a_magic_number_is_damage_not_a_crash(tmp_path: Path) -> None:
    file = _written(tmp_path / "bad.gz", b"\x1f\x8b" + b"x" * 100)
    assert list(file.lines()) == []
    assert len(file.damage) == 1


def test_zstd_frames_follow_one_another(tmp_path: Path) -> None:
    pack = zstandard.ZstdCompressor().compress
    file = _written(tmp_path / "two.zst", pack(b"a\n") + pack(b"b\n"))
    assert [body for _, body in file.lines()] == [b"a", b"b"]
    assert file.damage == []


def test_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    file = _written(tmp_path / "bom", b"\xef\xbb\xbfa\r\nb")
    assert list(file.lines()) == [(1, b"a\r"), (2, b"b")]


def test_a_line_without_end_is_cut_and_the_next_one_read(tmp_path: Path) -> None:
    file = _written(tmp_path / "long", b"ab\n" + b"x" * 100 + b"\nabcde\nabcdef\n" + b"y" * 11)
    assert list(file.lines(5)) == [(1, b"ab"), (2, b"xxxxxx"), (3, b"abcde"), (4, b"abcdef"), (5, b"yyyyyy")]
