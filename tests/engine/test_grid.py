"""A study's file: the runs it asks for, and what is said of everything that is wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.core.errors import InputError
from sociable.engine.grid import Grid, read_grid

FILE = """\
models = ["reference/oracle", "openai-compatible/a@http://127.0.0.1:1/v1"]
benchmarks = ["hsii", "hsii-cot", "agentsense"]
seeds = [0, 7]
partner = "openai-compatible/p@http://127.0.0.1:1/v1"
judges = ["reference/rule"]
limit = 4
max_cost = 3

[roles.subject]
temperature = 0.3
[roles."openai-compatible/a"]
max_tokens = 99

[hsii]
stages = [1, 2]

[settings.agentsense]
partner = "reference/oracle"
limit = 2

[[conditions]]
name = "plain"

[[conditions]]
name = "short"
benchmarks = ["hsii"]
limit = 1
[conditions.options]
stages = [1]
"""


@pytest.fixture
def read(tmp_path: Path) -> object:
    def write_and_read(text: str) -> Grid:
        file = tmp_path / "study.toml"
        file.write_text(text, encoding="utf-8")
        return read_grid(file)

    return write_and_read


def test_every_model_is_run_on_every_benchmark_by_every_condition_and_seed(read) -> None:  # type: ignore[no-untyped-def]
    grid = read(FILE)
    # Two models, two seeds; hsii by two conditions, the other two by one.
    assert len(grid.runs) == 2 * 2 * (2 + 1 + 1)
    assert [(run.settings.benchmark, run.condition) for run in grid.runs[::4]] == [
        ("hsii", "plain"),
        ("hsii", "short"),
        ("hsii-cot", "plain"),
        ("agentsense", "plain"),
    ]
    assert [run.settings.seed for run in grid.runs[:4]] == [0, 7, 0, 7]


def test_what_stands_nearer_to_a_run_goes_before_what_holds_for_all(read) -> None:  # type: ignore[no-untyped-def]
    by_name = {
        (run.settings.benchmark, run.condition, run.settings.model[:9], run.settings.seed): run.settings
        for run in read(FILE).runs
    }
    plain, short = by_name["hsii", "plain", "reference", 0], by_name["hsii", "short", "reference", 0]
    assert (plain.limit, plain.options) == (4, {"stages": [1, 2]})
    assert (short.limit, short.options) == (1, {"stages": [1]})
    scenes = by_name["agentsense", "plain", "openai-co", 7]
    assert (scenes.limit, scenes.partner, scenes.options, scenes.max_cost) == (2, "reference/oracle", {}, 3)
    # A model's own settings are there where it takes part.
    assert "openai-compatible/a" in scenes.roles and "openai-compatible/a" not in plain.roles
    assert plain.roles["subject"].temperature == 0.3


def test_roles_are_overlaid_field_by_field(read) -> None:  # type: ignore[no-untyped-def]
    (run,) = read(f"{LEAST}[roles.subject]\ntemperature = 0.3\n[settings.hsii.roles.subject]\nattempts = 2").runs
    assert (run.settings.roles["subject"].temperature, run.settings.roles["subject"].attempts) == (0.3, 2)


def test_a_role_of_all_runs_is_left_out_where_nothing_is_asked_of_it(read) -> None:  # type: ignore[no-untyped-def]
    grid = read(FILE)
    own = next(run.settings for run in grid.runs if run.settings.benchmark == "hsii-cot")
    assert (own.partner, own.judges) == (None, ())
    assert grid.remarks == (
        "hsii-cot asks the model under test only: 'partner' is left out there.",
        "hsii-cot asks the model under test only: 'judges' is left out there.",
    )


def test_a_reference_agent_is_left_out_where_a_benchmark_has_none_of_its_name(read) -> None:  # type: ignore[no-untyped-def]
    grid = read(
        'models = ["reference/oracle", "reference/tit-for-tat"]\nbenchmarks = ["hsii", "agentsense-duels"]\n[settings.agentsense-duels]\nopponent = "reference/random"'
    )
    assert len(grid.runs) == 3
    assert grid.remarks == ("hsii has no reference/tit-for-tat: it is left out there.",)


def test_the_example_of_the_guide_makes_the_runs_it_says(read) -> None:  # type: ignore[no-untyped-def]
    page = (Path(__file__).parents[2] / "docs" / "guide" / "studies.md").read_text(encoding="utf-8")
    _, _, example = page.split("```toml\n")
    assert len(read(example.partition("```")[0]).runs) == 12


LEAST = 'models = ["reference/oracle"]\nbenchmarks = ["hsii"]\n'


@pytest.mark.parametrize(
    "text, said",
    [
        ("x = [", ": cannot be read as TOML"),
        ('benchmarks = ["hsii"]', ": 'models' must be a list of texts"),
        ('models = []\nbenchmarks = ["hsii"]', "line 1: 'models' must be a list of texts, as in [\"…\"]; it is empty"),
        ('models = ["a",\n 3]\nbenchmarks = ["hsii"]', "line 2: 3 in 'models': expected texts"),
        ('models = ["a",\n "a"]\nbenchmarks = ["hsii"]', "line 2: 'a' stands twice in 'models'"),
        ('models = [\n"openai/a",\n"openai/a@http://h/v1"]\nbenchmarks = ["hsii"]', "line 3: 'openai/a' stands twice"),
        ('models = ["human"]\nbenchmarks = ["hsii"]', "line 1: 'human' cannot play many runs"),
        (f'{LEAST}[settings.hsii]\npartner = "human"', "line 4: 'human' cannot play many runs"),
        ('models = ["a"]\nbenchmarks = ["hsii",\n\n"agentsens"]', "line 4: there is no benchmark 'agentsens'. Did you mean 'agentsense'?"),
        (f"{LEAST}benchmark = 1", "line 3: unknown setting 'benchmark'. Did you mean 'benchmarks'?"),
        (f"{LEAST}judge = ['x']", "line 3: unknown setting 'judge'. Did you mean 'judges'?"),
        (f"{LEAST}limit = 'x'", "line 3: setting 'limit': "),
        (f"{LEAST}partner = 3", "line 3: setting 'partner': "),
        (f"{LEAST}judges = ['x',\n4]", "line 4: setting 'judges.1': "),
        (f"{LEAST}seeds = [0, 0]", "line 3: 0 stands twice in 'seeds'"),
        (f"{LEAST}seeds = [true]", "line 3: True in 'seeds': expected whole numbers"),
        (f"{LEAST}hsii = 1", "line 3: 'hsii' must be a table"),
        (f"{LEAST}[roles.subject]\n\ntemprature = 1", "line 5: unknown setting 'roles.subject.temprature'. Did you mean 'temperature'?"),
        (f"{LEAST}[roles.subject]\ntemperature = 9", "line 4: setting 'roles.subject.temperature'"),
        (f"{LEAST}[roles.subjct]\ntemperature = 1", "of this run. Did you mean 'subject'?"),
        (f"{LEAST}[roles.subjct]\ntemperature = 1", "line 3: setting 'roles': roles.subjct is neither a role"),
        (f'{LEAST}[prices."m"]\ninput = 1\noutptu = 1', "line 5: unknown setting 'prices.m.outptu'. Did you mean 'output'?"),
        (f"{LEAST}[settings.agentsense]\nlimit = 1", "line 3: 'agentsense' is none of this study's benchmarks"),
        (f"{LEAST}[agentsense]\nturns = 3", "line 3: [agentsense] has options of a benchmark that is none of this study's"),
        (f"{LEAST}max_cost = inf", "line 3: setting 'max_cost'"),
        (f"{LEAST}[settings.hsii]\nlimti = 1", "line 4: unknown setting 'limti' in [settings.hsii]. Did you mean 'limit'?"),
        (f"{LEAST}[settings.hsii]\nlimit = 1\nmax_cost = 2", "line 5: unknown setting 'max_cost' in [settings.hsii]. It holds for all runs"),
        (f"{LEAST}[settings.hsii]\n[settings.hsii.options]", "line 4: hsii's own options stand in the table [hsii]"),
        (f"{LEAST}[[conditions]]\nlimit = 1", "line 3: a condition needs a name"),
        (f'{LEAST}[[conditions]]\nname = "a"\n[[conditions]]\nname = "a"', "line 6: two conditions are called 'a'"),
        (f'{LEAST}[[conditions]]\nname = "a"\nbenchmarks = ["hsi"]', "line 5: 'hsi' is none of this study's benchmarks. Did you mean 'hsii'?"),
        (f'{LEAST}[[conditions]]\nname = "a"\n\nprompt = "x"', "line 6: unknown setting 'prompt' in [conditions.0]. Did you mean 'prompts'?"),
        (f'{LEAST}[[conditions]]\nname = "a"\noptions = 3', "line 5: options must be a table"),
        (f'{LEAST}[[conditions]]\nname = "a"\nbenchmarks = []', "line 5: benchmarks must be a list of one or more"),
        (f"{LEAST}roles = 3", "line 3: roles are given by role or model"),
        (f"{LEAST}[roles.subject]\n[settings.hsii]\nroles = 3", "line 5: roles are given by role or model"),
        (f'{LEAST}people = ["Ada"]', "line 3: 'human' cannot play many runs"),
        (f'{LEAST}raters = ["human"]', "line 3: 'human' cannot play many runs"),
        (f"{LEAST}x = {'[' * 3000}{']' * 3000}", ": cannot be read as TOML: "),
        (f"{LEAST}[conditions]\nname = 1", "line 3: conditions must be tables of their own"),
        ('models = ["reference/random"]\nbenchmarks = ["hsii",\n"agentsense-duels"]', "line 3: in agentsense-duels two models meet. Name whom"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line_and_the_nearest_right_name(read, text: str, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as caught:
        read(text)
    assert said in str(caught.value)
