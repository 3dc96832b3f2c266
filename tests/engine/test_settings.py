"""What makes two runs of a study one: the settings on which replies depend, wherever in the file they stand."""

from __future__ import annotations

import pytest

from sociable.engine.settings import RoleSettings, RunSettings, change_transport, describe_replies

KEY = RoleSettings(key_variable="MY_KEY", attempts=2)
WAYS = [{}, {"subject": RoleSettings()}, {"subject": KEY}, {"openai/a": KEY}]


def make(roles: dict[str, RoleSettings]) -> RunSettings:
    return RunSettings(benchmark="hsii", model="openai/a", judges=("openai/b",), roles=roles)


@pytest.mark.parametrize("roles", WAYS)
def test_keys_and_attempts_make_no_other_run(roles: dict[str, RoleSettings]) -> None:
    assert describe_replies(make(roles)) == describe_replies(make({}))
    assert describe_replies(make({"subject": RoleSettings(temperature=1)})) != describe_replies(make(roles))


@pytest.mark.parametrize("before", WAYS)
@pytest.mark.parametrize("after", WAYS)
def test_a_run_goes_on_with_the_keys_that_its_file_names_now(
    before: dict[str, RoleSettings], after: dict[str, RoleSettings]
) -> None:
    changed = change_transport(make(before), make(after))
    for role, model in changed.list_models():
        assert changed.find_role_settings(role, model) == make(after).find_role_settings(role, model)


def test_a_run_keeps_its_own_sampling_and_no_role_of_others() -> None:
    roles = {"subject": RoleSettings(key_variable="MY_KEY"), "openai/absent": KEY}
    changed = change_transport(make({"subject": RoleSettings(temperature=1)}), make({}).model_copy(update={"roles": roles}))
    assert changed.roles == {"subject": RoleSettings(temperature=1, key_variable="MY_KEY")}
