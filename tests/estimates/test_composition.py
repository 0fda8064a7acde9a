"""Likeness of node sets."""

from gangline.estimates.composition import consecutive_jaccard, jaccard


def test_jaccard() -> None:
    assert jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5
    assert jaccard(["a", "a"], ("a",)) == 1.0
    assert jaccard({"a"}, set()) == 0.0
    assert jaccard(set(), set()) is None


def test_consecutive() -> None:
    assert consecutive_jaccard([{"a"}, {"a"}, {"b"}, {"a", "b"}]) == (1.0, 0.0, 0.5)
    assert consecutive_jaccard([{"a"}]) == ()
    assert consecutive_jaccard([]) == ()
