"""Every command as a person gives it: what it prints, where, and its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gangline.cli import main
from gangline.cli.application import _with_default_week
from gangline.config import load
from gangline.warehouse import writing

CONFIG = '[cluster]\nname = "orion"\ntime_zone = "UTC"\n[[sources]]\nkind = "sessions_csv"\npath = "raw/*.csv"\n'
SESSIONS = (
    "session_id,job_name,nodes,started_at,ended_at,end_reason\n"
    "1,train,n[1-2],2026-03-01T00:00:00Z,2026-03-01T05:00:00Z,failed\n"
)


class Ran:
    """What a command left."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def _run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["gangline", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return _run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "week.csv").write_text(SESSIONS)
    (tmp_path / "cluster.toml").write_text(CONFIG)
    return tmp_path / "cluster.toml"


def test_exports_that_were_deleted_after_they_were_read(run, config: Path) -> None:
    assert run("ingest", "-c", config).code == 0
    (config.parent / "raw" / "week.csv").unlink()
    again = run("ingest", "-c", config)
    assert again.err == "warning: no file matches sessions_csv:raw/*.csv: what was read of it before is kept\n"
    assert "nothing to do" in again.out


def test_ingest_says_what_became_of_each_file(run, config: Path) -> None:
    first = run("ingest", "-c", config)
    assert first.code == 0
    assert "raw/week.csv (sessions_csv): 1 record loaded" in first.out
    assert "orion: 1 file read, 0 already known; warehouse built" in first.out
    assert "orion: 0 files read, 1 already known; nothing to do" in run("ingest", "-c", config).out


def test_strict_refuses_with_3_and_names_the_line(run, config: Path) -> None:
    (config.parent / "raw" / "bad.csv").write_text(SESSIONS + "2,x,n1,yesterday,,running\n")
    ran = run("ingest", "--strict", "-c", config)
    assert ran.code == 3
    assert "raw/bad.csv:3" in ran.out
    assert run("ingest", "-c", config).code == 0


def test_strict_tells_of_a_file_that_was_loaded_without_it(run, config: Path) -> None:
    """What is known is not read again, but it is no clean input for that."""
    (config.parent / "raw" / "bad.csv").write_text(SESSIONS + "2,x,n1,yesterday,,running\n")
    assert run("ingest", "-c", config).code == 0
    for options in (["--strict"], ["--strict", "--dry-run"]):
        ran = run("ingest", *options, "-c", config)
        assert (ran.code, "warning: raw/bad.csv was loaded without --strict" in ran.err) == (3, True)
    assert run("ingest", "--strict", "--rebuild", "-c", config).code == 3
    (config.parent / "raw" / "bad.csv").unlink()
    assert run("ingest", "--strict", "-c", config).code == 0


def test_a_source_without_files_is_a_warning(run, config: Path) -> None:
    (config.parent / "raw" / "week.csv").unlink()
    ran = run("ingest", "-c", config)
    assert (ran.code, "warning: no file matches sessions_csv:raw/*.csv" in ran.err) == (0, True)


def test_a_locked_warehouse_is_4_and_one_line(run, config: Path) -> None:
    with writing(load(config)):
        ran = run("build", "-c", config)
    assert ran.code == 4
    assert ran.err.count("\n") == 1
    assert "is writing it" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ingest", "-c", "/nowhere/cluster.toml"], "/nowhere/cluster.toml: cannot be read"),
        (["check", "-c", "CONFIG"], "no warehouse yet"),
        (["report", "--week", "2026-W60", "-c", "CONFIG"], "is not an ISO week"),
        (["report", "--from", "2026-03-02", "-c", "CONFIG"], "--from and --to go together"),
        (["report", "--week", "2026-W10", "--from", "2026-03-02", "-c", "CONFIG"], "give one of them"),
        (["report", "-p", "x", "-c", "CONFIG"], "write it as key=value"),
        (["report", "--only", "node_exclusion", "-c", "CONFIG"], "did you mean 08_node_exclusions? known: 00_capture_"),
        (["report", "--only", "explore", "-c", "CONFIG"], "20_explore is no page: `gangline lab` opens it"),
        (
            ["report", "--only", "09", "-c", "CONFIG"],
            "unknown notebook 09; did you mean 09_node_cases? known: 00_",
        ),
        (["report", "--only", "fleet_overview", "-p", "nodes=n1", "-c", "CONFIG"], "unknown parameter nodes"),
        (["postmortem", "--session", "a", "-c", "CONFIG"], "no warehouse yet"),
        (["ingest", "--jobs", "x"], "No such option"),
    ],
)
def test_usage_errors_are_2(run, config: Path, arguments: list[str], said: str) -> None:
    ran = run(*(config if argument == "CONFIG" else argument for argument in arguments))
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not (config.parent / "warehouse.duckdb").exists()


def test_lab_opens_the_exploring_notebook_offline_on_the_named_cluster(
    run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("lab", "-c", config).code == 2  # no warehouse yet
    assert run("ingest", "-c", config).code == 0
    started: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, arguments: started.append(arguments))
    monkeypatch.setattr("os.chdir", lambda _: None)
    monkeypatch.setenv("GANGLINE_CONFIG", "")
    assert run("lab", "-c", config, "--no-browser", "--port=9000").code == 0
    assert os.environ["GANGLINE_CONFIG"] == str(config)
    assert started[0][-2:] == ["--no-browser", "--port=9000"]
    assert {"--LabApp.news_url=None", "--LabApp.default_url=/lab/tree/notebooks/20_explore.ipynb"} <= set(started[0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name one thing: --session ID, --incident ID, or --node N --at TIME"),
        (["--session", "77"], "no started session 77"),
        (["--node", "n1"], "--node and --at go together"),
    ],
)
def test_postmortem_says_in_a_line_what_it_needs(run, config: Path, arguments: list[str], said: str) -> None:
    run("ingest", "-c", config)
    ran = run("postmortem", "-c", config, *arguments)
    assert (ran.code, ran.err) == (2, f"gangline: {said}{ran.err.partition(said)[2]}")


@pytest.mark.parametrize(
    ("notebook", "given", "said"),
    [
        ("node_cases", ["-p", "node=n777", "-p", "at=2026-03-01"], "no node n777"),
        ("node_cases", ["-p", "node=n1"], "--node and --at go together"),
        ("node_cases", ["-p", "roles=gpu_utill"], "gpu_utill is no role; did you mean gpu_util?"),
        ("checkpoints", ["-p", "save=save:1:1"], "parameter save: no save 'save:1:1' starts in the window"),
        ("runs", ["-p", "loss=train/loss"], "parameter loss: no run logs 'train/loss'; known: none"),
        ("runs", ["-p", "loss=a", "--since", "2026-W09"], "parameter loss: no run logs 'a'; known: none"),
        ("postmortem", ["-p", "session=77"], "no started session 77"),
    ],
)
def test_what_names_nothing_is_2_before_a_page_is_made(
    run, config: Path, tmp_path: Path, notebook: str, given: list[str], said: str
) -> None:
    ran = run("report", "-c", config, "--only", notebook, "--out", tmp_path / "out", *given)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert said in ran.err
    assert not (tmp_path / "out").exists()


def test_init_makes_a_config_that_works_and_never_overwrites(run, tmp_path: Path) -> None:
    folder = tmp_path / "new cluster"
    assert run("init", folder).code == 0
    assert load(folder / "cluster.toml").cluster.name == "new cluster"
    assert run("ingest", "-c", folder / "cluster.toml").code == 0
    again = run("init", folder)
    assert (again.code, "nothing was changed" in again.err) == (2, True)


@pytest.mark.parametrize("name", ['quote"d', "back\\slash", ".hidden", "한글", "a:b"])
def test_init_takes_any_folder_name(run, tmp_path: Path, name: str) -> None:
    assert run("init", tmp_path / name).code == 0
    assert load(tmp_path / name / "cluster.toml").cluster.name


def test_config_shows_and_explains(run, config: Path) -> None:
    shown = run("config", "-c", config).out
    assert json.loads(shown.partition("\n")[2])["cluster"]["name"] == "orion"
    explained = run("config", "--explain").out.splitlines()
    assert explained[0] == "key\tunit\tdefault\tmeaning"
    assert any(line.startswith("retries.delay_min\tmin\t10.0\t") for line in explained)


def test_tables_of_older_sql_are_made_again_by_an_ingest_and_refused_by_the_rest(
    run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("gangline.ingest.running.sql_hash", lambda: "older")
        run("ingest", "-c", config)
    for arguments in (["check"], ["lab"], ["postmortem", "--session", "1"]):
        ran = run(*arguments, "-c", config)
        assert (ran.code, ran.err.count("\n")) == (4, 1)
        assert "its tables were made by other SQL" in ran.err
    assert run("describe", "-c", config).code == 0
    assert "note warehouse: " in run("doctor", "-c", config).out
    assert "warehouse built" in run("ingest", "-c", config).out
    assert run("check", "-c", config).code == 0


def test_describe_lists_tables_and_columns(run, config: Path) -> None:
    run("ingest", "-c", config)
    assert any(line.startswith("marts.sessions\t") for line in run("describe", "-c", config).out.splitlines())
    columns = run("describe", "sessions", "-c", config).out
    assert "started_at" in columns
    assert run("describe", "session", "-c", config).code == 2


def test_check_passes_on_a_good_warehouse(run, config: Path) -> None:
    run("ingest", "-c", config)
    ran = run("check", "-c", config)
    assert (ran.code, " 0 failed" in ran.out) == (0, True)


def test_doctor_finds_what_is_wrong(run, config: Path) -> None:
    good = run("doctor", "-c", config)
    assert (good.code, "bad " in good.out) == (0, False)
    config.write_text(CONFIG.replace("time_zone", "timezone"))
    bad = run("doctor", "-c", config)
    assert bad.code == 1
    assert "the nearest known key is time_zone" in bad.out


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], []),
        (["report", "--week"], ["report", "--week", "last"]),
        (["report", "--week", "-c", "x"], ["report", "--week", "last", "-c", "x"]),
        (["report", "--week", "2026-W10"], ["report", "--week", "2026-W10"]),
    ],
)
def test_week_may_stand_alone(given: list[str], meant: list[str]) -> None:
    assert _with_default_week(given) == meant


@pytest.mark.parametrize(
    ("exported_at", "week"),
    [("2026-03-09T00:00:00Z", "2026-W10"), ("2026-03-09T00:00:01Z", "2026-W11"), (None, "2026-W09")],
)
def test_the_last_week_is_one_that_the_export_reaches_into(
    run, config: Path, monkeypatch: pytest.MonkeyPatch, exported_at: str | None, week: str
) -> None:
    """An export made on Monday at midnight holds nothing of the week that begins then."""
    config.write_text(CONFIG + (f"exported_at = {exported_at}\n" if exported_at else ""))
    asked: list[str] = []
    monkeypatch.setattr(
        "gangline.report.runner.render", lambda config, window, *_, **__: asked.append(window.label) or []
    )
    assert run("report", "--week", "-c", config).code == 0
    assert asked == [week]


@pytest.mark.parametrize(
    ("name", "value"), [("GANGLINE_MEMORY_LIMIT", "much"), ("GANGLINE_THREADS", "x"), ("GANGLINE_THREADS", "0")]
)
def test_a_limit_that_is_none_is_2_and_one_line(
    run, config: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    ran = run("ingest", "-c", config)
    assert (ran.code, ran.err.count("\n"), name in ran.err) == (2, 1, True)


LIMITED = """
import resource, sys
from gangline.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.argv = ["gangline", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize("most_bytes", [5_000, 1_000_000, 2_500_000])
def test_a_disk_without_room_is_one_line_and_can_be_gone_on_with(run, config: Path, most_bytes: int) -> None:
    """A commit that fails has ended its transaction; while tables are built the error comes from the model."""
    lines = [f"s{number},train,gpu1,2026-03-01T00:00Z,2026-03-01T01:00Z,completed" for number in range(8000)]
    (config.parent / "raw" / "large.csv").write_text("\n".join([SESSIONS.splitlines()[0], *lines]))
    command = [sys.executable, "-c", LIMITED, str(most_bytes), "ingest", "-c", str(config)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in ran.stderr.splitlines() if not line.startswith("reading ")]
    assert (ran.returncode, len(said)) == (1, 1)
    assert said[0].endswith("; make room there and run it again: the warehouse is as it was")
    assert run("ingest", "-c", config).code == 0
    assert run("check", "-c", config).code == 0
