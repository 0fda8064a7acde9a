"""What notebooks at once may take: memory is shared out among them, never promised twice."""

from pathlib import Path

import pytest

from gangline.report import shares


@pytest.mark.parametrize(
    ("given", "jobs", "each"),
    [("8GB", 4, "2000MB"), ("8GiB", 4, "2147MB"), ("1GB", 8, "256MB"), ("1500MB", 1, "1500MB")],
)
def test_a_given_limit_is_for_all_kernels_together(
    monkeypatch: pytest.MonkeyPatch, given: str, jobs: int, each: str
) -> None:
    monkeypatch.setenv(shares.MEMORY_KEY, given)
    assert shares.environment(jobs)[shares.MEMORY_KEY] == each


def test_half_of_the_machine_is_shared_out_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(shares.MEMORY_KEY, raising=False)
    monkeypatch.setattr(shares, "memory_mb", lambda: 16_000)
    monkeypatch.setattr(shares, "cores", lambda: 8)
    monkeypatch.delenv("GANGLINE_THREADS", raising=False)
    told = shares.environment(4)
    assert (told[shares.MEMORY_KEY], told["GANGLINE_THREADS"]) == ("2000MB", "2")


def test_what_is_no_size_is_left_for_the_database_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(shares.MEMORY_KEY, "much")
    assert shares.MEMORY_KEY not in shares.environment(2)


def test_the_limit_of_a_service_s_own_control_group_counts(tmp_path: Path) -> None:
    service = tmp_path / "system.slice" / "gangline-weekly.service"
    service.mkdir(parents=True)
    (service / "memory.max").write_text("4000000000\n")
    (service.parent / "memory.max").write_text("max\n")
    (tmp_path / "own").write_text("1:cpu:/x\n0::/system.slice/gangline-weekly.service\n")
    assert list(shares.cgroup_limits(tmp_path, tmp_path / "own")) == [4_000_000_000]
    assert list(shares.cgroup_limits(tmp_path, tmp_path / "none")) == []
