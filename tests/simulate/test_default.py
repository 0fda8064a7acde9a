"""The default cluster: its committed config is the one that the simulation would write."""

from gangline.cli.simulation import REFERENCE_CONFIG, SEED
from gangline.config import resolve_path
from gangline.simulate.cluster_config import config_text
from gangline.simulate.history import draw


def test_the_committed_config_is_that_of_the_exports() -> None:
    assert REFERENCE_CONFIG.read_text() == config_text(draw(SEED))
    assert resolve_path() == REFERENCE_CONFIG
