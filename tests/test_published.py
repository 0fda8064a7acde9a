"""Published figures beside computed ones: on a cluster that is not theirs, and on one that holds nothing."""

from collections.abc import Iterator

import duckdb
import pytest

from gangline import published, published_clusters
from gangline.charts import published as pictures
from gangline.charts import published_clusters as cluster_pictures
from gangline.config import Config
from gangline.published import CASES, LATER, NOT_MEASURED, ONLY, OUTSIDE, WITHIN
from gangline.warehouse import connect, export_span
from gangline.windows import Window
from tests.fleets import sample, written
from tests.test_notebook_runs import run, said

PAGES = ("90_published_comparison", "91_published_clusters")


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(sample()) as opened:
        yield opened


@pytest.fixture(scope="module")
def window(con: duckdb.DuckDBPyConnection) -> Window:
    return Window.whole(*export_span(con), "Asia/Seoul")


@pytest.fixture(scope="module")
def nothing() -> Config:
    return written("nothing_printed", "")


def test_another_cluster_is_not_taken_for_the_reports(con: duckdb.DuckDBPyConnection, window: Window) -> None:
    compared = published.compared(con, window)
    counts = published.counts(compared)
    assert published.case(con, compared) == "other"
    assert sum(counts.values()) == compared.height == 99
    assert (counts[LATER], counts[ONLY], counts[CASES]) == (4, 4, 4)
    assert counts[OUTSIDE] > counts[WITHIN]
    assert counts[NOT_MEASURED] > 20


def test_every_row_without_a_value_says_why(con: duckdb.DuckDBPyConnection, window: Window) -> None:
    left = published.unanswered(published.compared(con, window))
    assert left.filter(left["reason"].is_null())["printed"].to_list() == []


def test_a_value_is_judged_by_its_printed_digits(con: duckdb.DuckDBPyConnection, window: Window) -> None:
    row = published.compared(con, window).filter(figure="retries.chains").row(0, named=True)
    assert row["difference"] == row["computed_value"] - 12
    assert row["verdict"] == (WITHIN if row["computed_value"] == 12 else OUTSIDE)


def test_the_picture_holds_what_is_printed_rounded(con: duckdb.DuckDBPyConnection, window: Window) -> None:
    places = pictures.places(published.compared(con, window))
    assert places["shown"].is_between(-pictures.FARTHEST, pictures.FARTHEST).all()
    assert "retries.chains" not in places["name"].to_list()  # a count has no digits to lie within
    assert pictures.digits(places).to_dict()["layer"]


@pytest.mark.parametrize(
    ("cluster", "what", "rate", "low", "high"),
    [
        ("Llama 3", "unexpected interruption of the one training job", 3.79, 3.43, 4.17),
        ("504-GPU report", "run that ended neither completed nor planned", 7.11, 4.51, 10.67),
        ("InfiniteHBD trace", "fault of a node, open until repaired", 4.18, 3.85, 4.54),
        ("OPT-175B", "restart of the one training job", 14.11, 11.54, 17.08),
        ("BLOOM", "GPU failure that stopped training", 4.46, 2.98, 5.95),
        ("Meta RSC-1", "job ended by hardware, per node-day of jobs", 6.50, None, None),
    ],
)
def test_rates_of_others(
    con: duckdb.DuckDBPyConnection,
    window: Window,
    cluster: str,
    what: str,
    rate: float,
    low: float | None,
    high: float | None,
) -> None:
    row = published_clusters.rates(con, window).filter(cluster=cluster, meaning=what).row(0, named=True)
    found = [row[f"{name}_per_1000_node_days"] for name in ("rate", "low", "high")]
    assert found == pytest.approx([rate, low, high], abs=0.006)


def test_blocks_stand_apart_with_this_cluster_first(con: duckdb.DuckDBPyConnection, window: Window) -> None:
    rates = published_clusters.rates(con, window)
    blocks = rates["block"].to_list()
    assert blocks == sorted(blocks, key=published_clusters.RATED.index)
    first = rates.group_by("block", maintain_order=True).first()["cluster"].to_list()
    assert first == [published_clusters.HERE] * 3
    dots = cluster_pictures.dots(rates)
    assert len(cluster_pictures.strips(dots).to_dict()["vconcat"]) == dots["block"].n_unique()


def test_ends_that_had_trained_and_incidents_of_logs_stand_apart(
    con: duckdb.DuckDBPyConnection, window: Window
) -> None:
    own = published_clusters.rates(con, window).filter(cluster=published_clusters.HERE)
    counts = dict(own.select("meaning", "events").rows())
    assert counts["the same, where it had trained"] <= counts["end neither completed nor planned"]
    trained = con.execute("""
        select count(*) from marts.sessions join (select distinct session_id from marts.runs) using (session_id)
        where is_gang and reached_training and end_class not in ('completed', 'planned') and ended_at is not null
    """).fetchall()
    assert [(counts["the same, where it had trained"],)] == trained
    assert (
        counts["incident by kernel log or gauge"]
        == con.execute("select count(*) from marts.incidents").fetchall()[0][0]
    )


@pytest.mark.parametrize("name", PAGES)
def test_pages_run_on_the_sample(name: str) -> None:
    assert said(run(name, sample())[1])


@pytest.mark.parametrize(
    ("name", "answer"),
    [(PAGES[0], "Nothing to compare"), (PAGES[1], "Nothing trained here in this window")],
)
def test_pages_run_on_nothing(name: str, answer: str, nothing: Config) -> None:
    assert answer in said(run(name, nothing)[1])
