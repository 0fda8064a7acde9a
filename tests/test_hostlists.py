"""Host lists: exactly the names that are written, or an error."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.hostlists import MAX_NODES, HostListError, expand, fold


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("b04-[09-10]", ("b04-09", "b04-10")),
        ("listserv01,listserv3", ("listserv3", "listserv01")),
        ("n[001-003]", ("n001", "n002", "n003")),
        ("c[1-2]", ("c1", "c2")),
        ("n[9-10]", ("n9", "n10")),
        ("r[1-2]n[01-02]", ("r1n01", "r1n02", "r2n01", "r2n02")),
        ("gpu[001-003,007,10,9]", ("gpu9", "gpu10", "gpu001", "gpu002", "gpu003", "gpu007")),
        ("x[1-2]-ib", ("x1-ib", "x2-ib")),
        ("n1,n1,n[1-2]", ("n1", "n2")),
        ("ip-10-0-0-[1-2].ec2.internal", ("ip-10-0-0-1.ec2.internal", "ip-10-0-0-2.ec2.internal")),
        ("노드[1-2]", ("노드1", "노드2")),
        ("None assigned", ()),
        ("(null)", ()),
        ("", ()),
        (" gpu001 ", ("gpu001",)),
    ],
)
def test_expands_to_exactly_the_names_written(text: str, nodes: tuple[str, ...]) -> None:
    assert expand(text) == nodes


def test_padding_makes_other_nodes() -> None:
    short, padded = expand("node[541-570]"), expand("node[0541-0570]")
    assert len(short) == len(padded) == 30
    assert not set(short) & set(padded)


@pytest.mark.parametrize(
    "text",
    [
        "gpu[001-00+", "gpu[3-1]", "n[1-03]", "n[]", "n[1-2]]", "n[a-b]", "n[1-2-3]", "n[-3]", "n[1,,2]", "a,,b",
        "a b", "a!b", "@all", "a&b", "n[1-2", "n[1-2/2]", "*", "$(reboot)", "a;b", "n²[1-2]", "n٣",
        "n[1-999999999]", "n[1-99999999999999999999999]", "a[1-9999]b[1-9999]", "gpu001\ngpu002",
    ],
)  # fmt: skip
def test_what_is_not_plainly_a_host_list_is_an_error(text: str) -> None:
    with pytest.raises(HostListError, match="not a host list"):
        expand(text)


def test_an_error_shows_only_the_beginning_of_a_long_text() -> None:
    with pytest.raises(HostListError) as raised:
        expand("gpu[001-" + "9" * 10_000)
    assert len(str(raised.value)) < 250


def test_the_largest_list_is_read() -> None:
    assert len(expand(f"n[1-{MAX_NODES}]")) == MAX_NODES


def test_fold_keeps_names_that_are_no_host_names() -> None:
    assert fold(["gpu2", "gpu1", "a b"]) == "gpu[1-2],a b"
    assert fold([]) == ""


def test_the_real_host_list(shared_data: Path) -> None:
    folder = shared_data / "real" / "slurm"
    compressed = (folder / "hostlist_compressed.txt").read_text().split()
    expanded = (folder / "hostnames_expanded.txt").read_text().split()
    nodes = [node for text in compressed for node in expand(text)]
    assert set(nodes) - set(expanded) == {"gpu9", "gpu10"}
    assert fold(expand("a[1-2]b[08-10]")) == "a[1-2]b[08-10]"
    assert set(expand("a[1-2]b[08-10],login1")) <= set(expanded)


NAMES = st.from_regex(r"[a-z]{1,4}-?[0-9]{0,4}[a-z]?[0-9]{0,3}(\.[a-z]{1,3})?", fullmatch=True).filter(
    lambda name: not name.endswith("-")
)


@given(st.sets(NAMES, max_size=30))
def test_fold_and_expand_are_inverse(nodes: set[str]) -> None:
    assert set(expand(fold(nodes))) == nodes


@given(st.text(max_size=30))
def test_any_text_gives_names_or_an_error(text: str) -> None:
    try:
        nodes = expand(text)
    except HostListError:
        return
    assert len(set(nodes)) == len(nodes)
    assert not any(mark in node for node in nodes for mark in "[], ")
