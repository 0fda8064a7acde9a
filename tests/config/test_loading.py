"""A config is read whole or refused with the key, its line and the nearest known key."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.config import Config, ConfigError, load, resolve_path
from gangline.config.explanation import explain
from gangline.config.loading import ENVIRONMENT_KEY
from gangline.vocabulary import SourceKind

LEAST = '[cluster]\nname = "orion"\ntime_zone = "Asia/Seoul"\n'


@pytest.fixture
def config_path(tmp_path: Path) -> Path:
    return tmp_path / "cluster.toml"


def _load(path: Path, text: str) -> Config:
    path.write_text(text, encoding="utf-8")
    return load(path)


def _error(path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        _load(path, text)
    return str(caught.value)


def test_defaults_are_those_of_the_design(config_path: Path) -> None:
    config = _load(config_path, LEAST)
    assert config.cluster.gpus_per_node == 8
    assert config.cluster.run_name_strip == [r"-retry\d+$", r"_\d{8}$"]
    assert (config.training.gpu_util_min_ratio, config.training.gpu_util_min_min) == (0.8, 20)
    assert (config.training.power_min_ratio, config.training.duration_min_min) == (0.5, 60)
    assert (config.retries.delay_min, config.retries.window_before_min) == (10, 1)
    assert (config.retries.window_after_min, config.retries.manual_gap_max_h) == (5, 24)
    assert (config.overlap.occupied_min_ratio, config.overlap.unoccupied_max_ratio) == (0.8, 0.2)
    assert (config.checkpoints.save_merge_s, config.checkpoints.writer_min_mb_per_s) == (60, 10)
    assert config.checkpoints.load_min_session_min == 60
    assert (config.failures.incident_gap_min, config.failures.coalesce_s) == (10, 60)
    assert (config.failures.before_min, config.failures.after_min) == (10, 5)
    assert (config.exclusions.draws, config.exclusions.max_blocks) == (2000, 5000)
    assert (config.end_class.limit_min_ratio, config.end_class.silent_min) == (0.98, 10)


def test_every_source_kind_of_the_contract_is_known() -> None:
    assert {str(kind) for kind in SourceKind} == {
        *("backendai", "slurm", "slurm_events", "kubernetes", "sessions_csv", "incidents", "annotations_csv"),
        *("prometheus", "wandb", "kernel_log", "console_log"),
    }


def test_inventory_expands_host_lists_once_each(config_path: Path) -> None:
    config = _load(config_path, LEAST + 'nodes = ["gpu[008-010]", "gpu009", "login1"]\n')
    assert config.cluster.inventory() == ["gpu008", "gpu009", "gpu010", "login1"]


def test_unknown_key_names_line_and_nearest(config_path: Path) -> None:
    error = _error(config_path, LEAST + "gang_min_node = 60\n")
    assert error == f"{config_path}:4: unknown key cluster.gang_min_node; the nearest known key is gang_min_nodes"


def test_key_in_the_wrong_table_names_its_home(config_path: Path) -> None:
    error = _error(config_path, LEAST + "delay_min = 10\n")
    assert error == f"{config_path}:4: unknown key cluster.delay_min; delay_min belongs in [retries]"


def test_wrong_types_name_line_and_value(config_path: Path) -> None:
    error = _error(config_path, LEAST + '# a comment\n[retries]\ndelay_min = "10"\n')
    assert error.startswith(f"{config_path}:6: retries.delay_min: ")
    assert "'10'" in error


def test_each_source_is_counted_by_its_own_header(config_path: Path) -> None:
    sources = '[[sources]]\nkind = "slurm"\npath = "a"\n[[sources]]\nkind = "slurm"\npath = """\nb"""\ntz = "UTC"\n'
    error = _error(config_path, LEAST + sources)
    assert error.startswith(f"{config_path}:11: unknown key sources[1].tz; known here: kind, path, time_zone")


def test_missing_time_zone_is_one_line(config_path: Path) -> None:
    error = _error(config_path, '[cluster]\nname = "orion"\n')
    assert error.startswith(f"{config_path}:1: cluster.time_zone is missing")
    assert "\n" not in error


def test_several_mistakes_are_a_line_each(config_path: Path) -> None:
    error = _error(config_path, '[cluster]\nname = "a/b"\ntime_zone = "Mars/Olympus"\n')
    assert [line.split(": ")[0] for line in error.splitlines()] == [f"{config_path}:2", f"{config_path}:3"]
    assert "'Mars/Olympus' is no IANA time zone" in error


@pytest.mark.parametrize("name", ["..", "a/b", "", "x\ty", ".hidden", "a" * 101, "가" * 86])
def test_a_name_that_is_no_folder_name_is_refused(config_path: Path, name: str) -> None:
    escaped = name.replace("\t", "\\t")
    assert "cluster.name" in _error(config_path, f'[cluster]\nname = "{escaped}"\ntime_zone = "UTC"\n')


def test_no_toml_and_no_file_are_one_line(config_path: Path, tmp_path: Path) -> None:
    assert _error(config_path, "[cluster\n").startswith(f"{config_path}:1: this is no TOML")
    with pytest.raises(ConfigError, match="gangline init DIR"):
        load(tmp_path / "absent.toml")


def test_bad_patterns_and_host_lists_are_found_when_read(config_path: Path) -> None:
    assert f"{config_path}:4: cluster.run_name_strip: '('" in _error(config_path, LEAST + 'run_name_strip = ["("]\n')
    assert f"{config_path}:4: cluster.nodes" in _error(config_path, LEAST + 'nodes = ["gpu[1-"]\n')


@pytest.mark.parametrize("pattern", ["(?=x)", "(?<!a)b", r"(a)\\1"])
def test_patterns_are_those_of_the_engine_that_runs_them(config_path: Path, pattern: str) -> None:
    """Python reads look-around and back-references, DuckDB, which strips run names, does not."""
    said = _error(config_path, LEAST + f'run_name_strip = ["{pattern}"]\n')
    assert said.startswith(f"{config_path}:4: cluster.run_name_strip: ")
    assert "no look-around" in said
    assert "it has no group" in _error(config_path, LEAST + "[runs]\nlink_patterns = ['job-\\d+']\n")


@pytest.mark.parametrize(
    ("table", "rest"), [("stages", 'name = "a"\n'), ("maintenance", ""), ("nodes", 'name = "n1"\n')]
)
def test_a_stretch_that_ends_before_it_starts_is_refused(config_path: Path, table: str, rest: str) -> None:
    text = LEAST + f"[[{table}]]\n{rest}from = 2026-03-02T00:00:00+09:00\nto = 2026-03-01T15:00:00Z\n"
    assert f"{table}[0].to: 2026-03-01T15:00:00+00:00 is not after from" in _error(config_path, text)


def test_the_same_files_are_named_once(config_path: Path) -> None:
    entry = '[[sources]]\nkind = "slurm"\npath = "sacct*.txt"\n'
    assert f"{config_path}:9: sources[1].path: an entry above" in _error(config_path, LEAST + entry + entry)
    clusters = "".join(f'{entry}source_cluster = "{name}"\n' for name in ("east", "west"))
    config_path.write_text(LEAST + clusters)
    assert len(load(config_path).sources) == 2


def test_instants_without_offset_are_in_the_nearest_zone(config_path: Path) -> None:
    text = (
        '[[sources]]\nkind = "slurm"\npath = "a"\ntime_zone = "America/New_York"\nexported_at = 2026-07-01T00:00:00\n'
        "[[maintenance]]\nfrom = 2026-07-01\nto = 2026-07-01T12:00:00+02:00\n"
    )
    config = _load(config_path, LEAST + text)
    assert config.sources[0].exported_at == datetime(2026, 7, 1, 4, tzinfo=UTC)
    assert config.maintenance[0].from_at == datetime(2026, 6, 30, 15, tzinfo=UTC)
    assert config.maintenance[0].to_at == datetime(2026, 7, 1, 10, tzinfo=UTC)


def test_digest_follows_meaning_not_layout(config_path: Path) -> None:
    plain = _load(config_path, LEAST).digest()
    assert _load(config_path, LEAST + "# more\n[retries]\ndelay_min = 10.0\n").digest() == plain
    assert _load(config_path, LEAST + "[retries]\ndelay_min = 11.0\n").digest() != plain


def test_config_is_found_by_option_then_environment_then_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_KEY, "named.toml")
    assert resolve_path(tmp_path) == tmp_path
    assert resolve_path() == Path("named.toml")
    monkeypatch.delenv(ENVIRONMENT_KEY)
    assert resolve_path().name == "cluster.toml"


def test_explanation_covers_every_key_with_a_meaning() -> None:
    meanings = {meaning.key: meaning for meaning in explain()}
    assert meanings["retries.delay_min"].unit == "min"
    assert meanings["retries.delay_min"].default == "10.0"
    assert meanings["stages[].from"].unit == "UTC instant"
    assert meanings["cluster.name"].default == "required"
    assert [key for key, meaning in meanings.items() if not meaning.meaning] == []
