"""What guards a promise is tried with new examples in every run: the list of it, and that they are new."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import COSTLY, STEADY, core, few

HERE = Path(__file__).parent
CORE = """
    facts/test_gate.py::test_a_level_is_never_above_that_of_the_best_who_said_it
    facts/test_gate.py::test_whatever_the_words_are_a_claim_that_adds_a_word_is_not_said
    facts/test_identity.py::test_a_chain_of_values_has_exactly_one_at_any_time
    facts/test_identity.py::test_no_fact_replaces_or_ends_one_of_a_higher_level_or_without_its_words
    facts/test_identity.py::test_same_is_an_equivalence_and_near_is_symmetric_and_never_of_the_same
    facts/test_joined.py::test_in_which_order_machines_meet_makes_no_difference
    facts/test_ledger.py::test_reading_only_what_changed_finds_what_reading_the_page_finds
    facts/test_three_way.py::test_a_fact_stands_once
    facts/test_three_way.py::test_a_fact_that_a_side_added_stands_and_one_that_a_side_removed_is_gone
    facts/test_three_way.py::test_a_side_that_changed_nothing_leaves_the_other_as_it_is
    facts/test_three_way.py::test_both_directions_give_the_same_bytes
    facts/test_three_way.py::test_lines_of_text_are_merged_as_sets_are
    facts/test_three_way.py::test_merging_what_is_merged_changes_nothing
    facts/test_three_way.py::test_no_line_is_lost_that_a_side_added
    facts/test_three_way.py::test_there_are_never_markers
    facts/test_woven.py::test_merging_again_changes_nothing
    facts/test_woven.py::test_no_fact_is_lost_that_was_written_apart_and_no_person_s_word_beats
    facts/test_woven.py::test_whichever_is_merged_into_which_the_page_is_the_same
    index/test_sqlite.py::test_after_any_acts_an_index_in_memory_says_what_a_plain_dict_says
    integrations/test_agent_settings.py::test_hooks_and_server_are_put_in_and_taken_out_to_the_byte
    integrations/test_git_files.py::test_lines_that_were_put_in_are_taken_out_to_the_byte
    integrations/test_json_edit.py::test_several_go_out_in_any_order_and_the_rest_means_the_same
    integrations/test_json_edit.py::test_what_was_added_goes_out_again_to_the_byte
    integrations/test_toml_edit.py::test_tables_go_in_at_the_end_and_out_again_to_the_byte
    language/test_dates.py::test_what_is_written_out_says_the_same_on_every_day
    log/test_recorder.py::test_what_two_sessions_record_is_read_back_in_order_with_sound_turns
    memory/test_found_and_forgotten.py::test_a_word_that_is_forgotten_stands_in_no_file
    memory/test_found_and_forgotten.py::test_what_was_recorded_is_found_by_its_own_words
    memory/test_levels.py::test_after_any_story_and_any_loss_no_level_is_higher_and_an_edit_with_proof_is_a_person_s
    models/test_dialect_streams.py::test_a_reply_goes_back_to_its_provider_as_it_came
    pages/test_grammar.py::test_a_page_read_again_after_edits_is_the_page_read_anew
    pages/test_grammar.py::test_reading_loses_no_byte_and_gives_every_line_one_role
    pages/test_history.py::test_every_version_is_rebuilt_from_the_last
    pages/test_line_edits.py::test_adding_a_fact_adds_that_fact_and_touches_nothing_else
    pages/test_pages.py::test_any_sequence_of_edits_saves_and_undos_replays_to_the_bytes_on_disk
    place/test_guard.py::test_a_person_s_line_is_neither_changed_nor_removed_nor_hidden
    place/test_guard.py::test_no_fact_comes_to_light_that_nobody_let_in
    prompt/test_fit.py::test_whatever_there_is_to_show_and_however_little_room_it_keeps_every_promise
    state/test_rules.py::test_a_state_that_is_written_is_read_the_same
    state/test_three_way.py::test_a_task_that_a_side_added_stays_and_one_that_a_side_closed_goes
    state/test_three_way.py::test_no_two_rows_stop_a_merge_and_no_title_is_lost_or_comes_back
    state/test_three_way.py::test_one_side_alone_counts_and_what_is_merged_is_sound
    store/test_records.py::test_a_damage_costs_the_records_it_hit_and_no_other
    store/test_store_machine.py::test_the_store_is_its_model_whatever_happens
    text/test_diff.py::test_a_diff_applied_gives_the_new_text_and_inverted_the_old_one
    text/test_diff.py::test_the_stretch_that_changed_is_whole_lines_and_no_line_more_than_it_must_be
    text/test_notation.py::test_what_is_encoded_comes_back_the_same
    text/test_secrets.py::test_nothing_of_a_secret_stays_whatever_it_leans_on
    text/test_untrusted.py::test_no_text_can_end_its_fence_or_begin_another
    text/test_weave.py::test_a_line_that_one_writer_put_in_and_none_took_out_stands
    text/test_weave.py::test_whoever_takes_in_the_same_changes_has_the_same_text
    window/test_compact.py::test_after_a_short_conversation_the_window_fits_and_nothing_is_lost
    window/test_window.py::test_the_window_only_grows
""".split()


def drawing_anew() -> Iterator[str]:
    """The tests of the default run that name `core`: on a property, or in the settings of a state machine."""
    for path in sorted(HERE.glob("*/test_*.py")):
        text = path.read_text("utf-8")
        for node in (
            ast.parse(text).body if re.search("^from drawing import .*core", text, re.MULTILINE) else ()
        ):
            if isinstance(node, ast.FunctionDef) and "pytest.mark.long" not in map(
                ast.unparse, node.decorator_list
            ):
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                if "core" in names:
                    yield f"{path.relative_to(HERE).as_posix()}::{node.name}"


def drawn(how: settings) -> list[int]:
    found: list[int] = []

    @how
    @given(st.integers(0, 2**64))
    def draw(number: int) -> None:
        found.append(number)

    draw()
    return found


def test_the_core_properties_are_these_and_at_least_twenty() -> None:
    assert sorted(drawing_anew()) == CORE
    assert len(CORE) >= 20


def test_a_core_property_draws_a_hundred_examples_that_are_new_each_time_and_says_how_to_repeat_one() -> None:
    one, other = drawn(core), drawn(core)
    assert len(one) == len(other) == 100
    assert one != other
    assert core.print_blob


def test_one_that_is_costly_draws_fewer_in_the_steady_run_and_as_many_in_the_long_one() -> None:
    is_steady = settings.get_current_profile_name() == STEADY
    costly = settings(core, max_examples=few(100, COSTLY))
    one, other = drawn(costly), drawn(costly)
    assert len(one) == len(other) == (COSTLY if is_steady else 100)
    assert one != other


def test_every_other_property_draws_the_same_few_in_the_steady_run() -> None:
    steady = settings.get_profile(STEADY)
    one, other = drawn(steady), drawn(steady)
    assert one == other
    assert len(one) < 10


def test_the_profile_that_was_asked_for_is_the_one_in_force(request: pytest.FixtureRequest) -> None:
    asked = request.config.getoption("--hypothesis-profile")
    assert settings.get_current_profile_name() == (asked or "free")
