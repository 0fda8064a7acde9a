"""Fixtures that every test may use."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gangline import definitions

ROOT = Path(__file__).parents[1]

# A busy machine is no failure, and a failing example is printed: no database of them is kept.
settings.register_profile("gangline", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gangline")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real exports beside the project; tests that read them skip where they are absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real exports (../shared/data) are not on this machine")
    return folder


@pytest.fixture(scope="session", autouse=True)
def one_sql() -> Iterator[None]:
    """Who edits sql/ while tests run does not make the warehouses outdated that they share."""
    texts = list(definitions._texts(definitions.sql_folder()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(definitions, "_texts", lambda folder: iter(texts))
        yield
