"""The order of the build, derived from what each file reads."""

from pathlib import Path

import pytest

from gangline.models import Model, ModelError, find_models, in_order, with_sources

CONTRACT = "description: d\ngrain: one row\nkey: []\ncolumns: {one: {type: integer, description: d}}\n"
MACRO_CONTRACT = "description: d\narguments: {}\nassertions: {one: 1 = 1}\n"


def tree(folder: Path, **files: str) -> Path:
    """A `sql/` folder; keys are folder__name."""
    for key, sql in files.items():
        kind, name = key.split("__")
        (folder / kind).mkdir(exist_ok=True)
        (folder / kind / f"{name}.sql").write_text(sql, encoding="utf-8")
        contract = MACRO_CONTRACT if kind == "macros" else CONTRACT
        (folder / kind / f"{name}.yml").write_text(contract, encoding="utf-8")
    return folder


def ordered(folder: Path, *outside: str) -> list[str]:
    return [model.reference for model in in_order(find_models(folder), outside)]


def test_steps_of_a_model_are_not_models_and_macros_stand_between_their_tables_and_their_callers(
    tmp_path: Path,
) -> None:
    folder = tree(
        tmp_path,
        marts__aaa="with zzz as (select * from intermediate.zzz) select doubled(one) as one from zzz",
        marts__sums="from marts.sums(1)",
        macros__doubled="create or replace macro doubled(x) as x * 2",
        macros__sums="create or replace macro marts.sums(x) as table select * from marts.aaa",
        intermediate__zzz="select one from raw.records asof join (select 1 as one) as o on records.one >= o.one",
    )
    assert ordered(folder, "raw.records") == [
        "macro doubled",
        "intermediate.zzz",
        "marts.aaa",
        "macro marts.sums",
        "marts.sums",
    ]


def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path) -> None:
    folder = tree(tmp_path, marts__nodes="select 1 as one", marts__sums="select * from marts.node")
    with pytest.raises(
        ModelError, match=r"sums\.sql: reads marts\.node, which nothing makes; did you mean marts\.nodes"
    ):
        ordered(folder)


def test_a_circle_is_told_in_its_order(tmp_path: Path) -> None:
    folder = tree(tmp_path, marts__a="from marts.b", marts__b="from marts.c", marts__c="from marts.a")
    with pytest.raises(ModelError, match="in a circle: marts"):
        ordered(folder)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("select * from nodes", "reads nodes, which is no step of it"),
        ("select 1; select 2", "holds 2 statements"),
        ("selec 1 as", r"nodes\.sql:1: cannot be parsed"),
    ],
)
def test_a_file_that_cannot_be_placed_is_one_line(tmp_path: Path, sql: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        find_models(tree(tmp_path, marts__nodes=sql))


def test_a_macro_file_is_named_after_its_macro(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="makes the macro twice; name the file after it"):
        find_models(tree(tmp_path, macros__doubled="create or replace macro twice(x) as x * 2"))


def test_only_takes_what_the_wanted_ones_read(tmp_path: Path) -> None:
    folder = tree(tmp_path, staging__a="select 1 as one", marts__b="from staging.a", marts__c="from staging.a")
    models = find_models(folder)
    assert [model.name for model in with_sources(models, ["b"])] == ["a", "b"]
    with pytest.raises(ModelError, match=r"marts\.bb is no model"):
        with_sources(models, ["marts.bb"])


def test_staging_is_views_unless_said(tmp_path: Path) -> None:
    models: list[Model] = find_models(tree(tmp_path, staging__a="select 1 as one", marts__b="from staging.a"))
    assert [model.is_view for model in models] == [True, False]
