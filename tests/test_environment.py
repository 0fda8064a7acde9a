"""The three lists of dependencies say the same: pyproject.toml, the locks, environment.yml."""

import re
import tomllib
from itertools import pairwise

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

CONDA_NAMES = {"python-duckdb": "duckdb", "python-tzdata": "tzdata"}
FIXED_BY_THE_USER = {"jupyterlab", "polars", "duckdb", "altair", "statsmodels", "papermill"}


def _wanted(extra: str | None = None) -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])
    return {canonicalize_name(Requirement(text).name): Requirement(text) for text in texts}


def _locked(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text()
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", text, re.MULTILINE))


LOCKS = {"requirements.lock": None, "requirements-test.lock": "test", "requirements-bench.lock": "bench"}


@pytest.mark.parametrize(("lock", "extra"), LOCKS.items())
def test_lock_satisfies_pyproject(lock: str, extra: str | None) -> None:
    locked = _locked(lock)
    for name, requirement in _wanted(extra).items():
        assert locked[name] in requirement.specifier, f"{lock} has {name} {locked.get(name)}; run `make lock`"


def test_each_lock_extends_the_one_before() -> None:
    for lock, longer in pairwise(LOCKS):
        assert _locked(lock).items() <= _locked(longer).items()


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_has_hashes_and_no_host_names(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "index" not in re.sub(r"^\S+==.*$", "", text, flags=re.MULTILINE)
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_conda_environment_has_the_locked_versions_of_everything_wanted() -> None:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in listed if isinstance(entry, dict))
    conda = dict(entry.split("=", 1) for entry in listed if isinstance(entry, str) and re.search(r"\w=\d", entry))
    given = {CONDA_NAMES.get(name, name): version for name, version in conda.items()}
    given |= dict(entry.split("==") for entry in pip)
    locked = _locked("requirements.lock")
    assert given == {name: locked[name] for name in _wanted()}


def test_the_users_packages_are_there() -> None:
    assert set(_wanted()) >= FIXED_BY_THE_USER


def test_build_backend_is_locked() -> None:
    (backend,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert backend == f"hatchling=={_locked('requirements.lock')['hatchling']}"
