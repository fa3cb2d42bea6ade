"""For all tests: Hypothesis without deadlines (kernels compile on first use), checked types, modules and memory let go.

SLOW names tests that take many seconds of a processor: faults of whole programs, kernels compiled for other processors,
trained agents against every line of play, and those cases of a test that take several seconds where `make test` has
others of their kind. `make check` and `make test` leave them to `make slow`; CI runs both.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest
from hypothesis import settings

from sog.searches.kernels.dispatch import SameTypes

settings.register_profile("sog", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI")))
settings.load_profile("sog")

SameTypes.checked = True


@pytest.fixture(autouse=True, scope="module")
def memory_ends_with_a_module() -> Iterator[None]:
    """Forget the games, trees and matrices that functions of ours remember; a worker would gather gigabytes of them."""
    yield
    for name, module in list(sys.modules.items()):
        if name.startswith(("sog.", "soglab.")) and not name.startswith("sog.searches.kernels."):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()
    gc.collect()
    with suppress(AttributeError):  # the C library keeps what is freed; elsewhere than on Linux it has another way
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(autouse=True)
def modules_of_a_test_end_with_it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that the test imported from its own folder: another test may write one of the same name."""
    before = set(sys.modules)
    yield
    folder = tmp_path_factory.getbasetemp()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and folder in Path(file).parents:
            del sys.modules[name]


# By file: beginnings of test names.
SLOW = {
    "tests/agents/test_agents.py": ("test_rebel_plays_at_the_terminal",),
    "tests/agents/test_chasers.py": (
        "test_detectives_answer_the_same_whatever_is_hidden[scotland_yard",
        "test_detectives_answer_the_same_whatever_is_hidden[pimbot(simulations=100)]",
    ),
    "tests/agents/test_openspiel_bot.py": ("test_any_state_is_answered_from_its_history_alone",),
    "tests/algorithms/test_action_critic.py": ("test_kuhn_is_learned_from_a_critic",),
    "tests/algorithms/test_distil.py": ("test_a_distilled_network_is_better_than_none_under_search",),
    "tests/algorithms/test_exact_queries.py": ("test_self_play_of_drawn_hands_ends_where_values_are_exact",),
    "tests/algorithms/test_ownership.py": ("test_owners_can_be_learned",),
    "tests/algorithms/test_policy_gradient.py": (
        "test_kuhn_is_learned[mmd",
        "test_kuhn_is_learned[nashpg",
        "test_leduc_improves[mmd]",
        "test_leduc_improves[nashpg]",
        "test_mmds_preset_does_not_drift_into_pure_play",
    ),
    "tests/algorithms/test_rebel.py": ("test_the_shipped_network_plays_far_better_than_none",),
    "tests/algorithms/test_rebel_turn.py": (
        "test_a_run_is_measured_on_the_board_that_is_named",
        "test_the_presets_take_one_board_and_all_boards[AsKd7c2h",
    ),
    "tests/algorithms/test_sepot_search.py": (
        "test_leducs_second_round_is_solved_again",
        "test_where_the_opponent_always_leaves_its_own_range_lets_the_search_learn",
    ),
    "tests/cli/test_cli.py": ("test_closed_or_full_pipes_are_no_fault_of_ours[play",),
    "tests/cli/test_cli_acpc.py": ("test_a_killed_match_is_resumed",),
    "tests/cli/test_cli_holdem.py": (
        "test_exploit_of_a_turn_spot_whose_rivers_are_searched",
        "test_a_network_of_a_family_is_measured_on_one_board",
    ),
    "tests/cli/test_cli_match.py": ("test_a_killed_match_ends_as_if_it_had_not_been",),
    "tests/cli/test_cli_policies.py": (
        "test_a_killed_run_resumes_as_if",
        "test_a_policy_network_values_no_leaves",
    ),
    "tests/cli/test_cli_rebel.py": ("test_on_a_board_student_of_games_plays",),
    "tests/cli/test_closed_pipes.py": (
        "test_a_closed_stdout_ends_the_command_without_a_word[algorithms rebel]",
        "test_a_closed_stdout_ends_the_command_without_a_word[games --json]",
        "test_a_closed_stdout_ends_the_command_without_a_word[play leduc_poker --seat 0]",
    ),
    "tests/cli/test_stopping.py": (
        "test_a_process_is_stopped_in_the_middle[bench",
        "test_a_process_is_stopped_in_the_middle[distil",
        "test_a_process_is_stopped_in_the_middle[exploit",
        "test_a_process_is_stopped_in_the_middle[gtp",
        "test_a_process_is_stopped_in_the_middle[play",
        "test_a_process_is_stopped_in_the_middle[reproduce",
        "test_a_process_is_stopped_in_the_middle[tournament matches.toml --out",
        "test_a_process_is_stopped_in_the_middle[train kuhn_poker --rounds 1000000 --asynchronous",
        "test_a_process_is_stopped_in_the_middle[train kuhn_poker --rounds 1000000 --cluster",
        "test_a_process_is_stopped_in_the_middle[train leduc_poker",
    ),
    "tests/cli/test_users_code.py": (
        "test_a_boards_run_says_a_command_that_finds_out",
        "test_what_a_users_code_prints_is_no_part_of_the_json[exploit",
        "test_what_a_users_code_prints_is_no_part_of_the_json[train",
    ),
    "tests/cli/test_widths.py": (
        "test_no_command_cuts_what_it_prints[100",
        "test_no_command_cuts_what_it_prints[160",
        "test_no_help_cuts_an_option_or_an_example",
    ),
    "tests/cluster/test_commands.py": (
        "test_exploit",
        "test_train_without_rounds",
        "test_tournament",
    ),
    "tests/games/test_histories.py": ("test_both_faces_of_a_game_are_equal[name7]",),
    "tests/games/test_openspiel_bombs.py": tuple(
        f"test_bombs_are_refused[{name}" for name in ("mnk", "hex", "dots_and_boxes", "blotto", "goofspiel")
    ),
    "tests/games/test_scotland_yard_maps.py": (
        "test_random_games_keep_what_every_game_must[many",
        "test_searches_on_small_maps_are_close",
        "test_random_games_keep_what_every_game_must[200]",
    ),
    "tests/measure/test_aivat.py": ("test_deviation_on_leduc",),
    "tests/measure/test_best_responses.py": ("test_a_learned_response_wins_nearly_what_the_best_one_does_and_no_more",),
    "tests/measure/test_endgame.py": (
        "test_an_agent_that_plays_rivers_too[searching",
        "test_training_measures_a_turn_spot_with_rivers_solved_anew",
        "test_rivers_solved_anew_below_a_solved_turn_are_hardly_exploitable",
    ),
    "tests/measure/test_lbr.py": (
        "test_leduc_is_below_the_exact_best_response",
        "test_value_bets_win_most_from_who_always_calls",
        "test_it_must_call_on_the_first_streets",
    ),
    "tests/nets/test_serving.py": (
        "test_it_ends_with_its_owner",
        "test_a_killed_process_is_told_of",
        "test_compiled_batches_are_padded_and_follow_the_weights",
    ),
    "tests/opponents/test_openspiel_alphazero.py": (
        "test_a_network_of_planes_learns_and_plays",
        "test_it_plays_legal_games",
        "test_it_wins_and_blocks_at_once_and_counts_its_simulations",
        "test_its_moves_are_counted_on_solved_positions_beside_the_shipped_networks",
        "test_processor_time_ends_it",
    ),
    "tests/play/test_sampled_chance.py": ("test_two_agents_play_hands_of_the_whole_game",),
    "tests/protocols/test_bad_engines.py": (
        "test_a_program_that_speaks_no_protocol_loses_no_game[silent",
        "test_a_tournament_of_bad_gtp_engines",
        "test_engines_die_with_the_tournament",
        "test_one_tournament_may_have_many_kinds",
    ),
    "tests/protocols/test_hostile_lines.py": (
        "test_closed_pipes_end_it_quietly",
        "test_the_programs_do_so_under",
        "test_input_that_ends_in_a_line_ends_the_program",
    ),
    "tests/protocols/test_tournament.py": (
        "test_a_killed_tournament_goes_on",
        "test_a_uci_engine_at_fault",
    ),
    "tests/protocols/test_uci_lines.py": ("test_a_ponder_takes_its_time_after_the_hit",),
    "tests/searches/test_compiling.py": ("test_",),
    "tests/searches/test_exact_values.py": (
        "test_states_before_the_river_card_and_after_it_agree_with_the_search_of_a_whole_tree",
    ),
    "tests/searches/test_jit.py": ("test_without_a_folder_to_write_to",),
    "tests/searches/test_numba_insides.py": ("test_plain_njit_gives_the_same_bits",),
    "tests/searches/test_targets.py": ("test_",),
    "tests/soglab/test_bench_inference.py": ("test_every_row_is_measured",),
    "tests/soglab/test_bench_network.py": ("test_residual_networks_are_measured",),
    "tests/soglab/test_bench_rebel.py": ("test_each_setting_has_a_row_and_a_share",),
    "tests/soglab/test_bench_root.py": ("test_rows_of_the_whole_game",),
    "tests/soglab/test_bench_rounds.py": ("test_the_command",),
    "tests/soglab/test_bench_search.py": (
        "test_parts_of_training",
        "test_rows_of_searches",
    ),
    "tests/soglab/test_bench_served.py": ("test_both_search",),
    "tests/soglab/test_cfrd_memory.py": ("test_growth",),
    "tests/soglab/test_checkouts.py": ("test_both_processes_do_each_task",),
    "tests/soglab/test_chess_scales.py": ("test_sets_are_made_again_from_the_seed",),
    "tests/soglab/test_connect_four_ablation.py": ("test_the_quick_version_from_end_to_end",),
    "tests/soglab/test_figures.py": (
        "test_a_command_that_fails_is_a_difference",
        "test_a_nudged_command_prints_its_figure_and_begins_elsewhere",
    ),
    "tests/soglab/test_packing_check.py": ("test_rows_of_self_play_come_back_within_the_bounds[tic_tac_toe]",),
    "tests/soglab/test_pimbot.py": ("test_a_small_version_from_end_to_end",),
    "tests/soglab/test_reproduce.py": (
        "test_processes_compute_the_points",
        "test_time_left_is_by_the_points_of_this_time",
    ),
    "tests/soglab/test_sepot_studies.py": ("test_quick_versions_need_no_run",),
    "tests/soglab/test_sog_table2.py": ("test_hands_are_played_corrected_and_measured",),
    "tests/soglab/test_teh.py": (
        "test_a_network_beside",
        "test_held_out_beliefs",
        "test_anchors_in_order",
    ),
    "tests/soglab/test_training_checks.py": (
        "test_a_resumed_run_is_the_same_and_another_is_not",
        "test_a_run_that_fits",
    ),
    "tests/soglab/test_ttt_never_loses.py": ("test_the_shipped_agent_never_loses",),
    "tests/test_docs.py": ("test_snippets_run[python.md]", "test_the_tutorials_run"),
    "tests/test_platforms.py": (
        "test_what_needs_no_posix_works_without_it[exploit",
        "test_what_needs_no_posix_works_without_it[match",
        "test_training_without_file_locks_is_refused",
    ),
    "tests/test_without_pytorch.py": (
        "test_shipped_networks_need_none[-m sog play scotland_yard",
        "test_shipped_networks_need_none[-m sog exploit liars_dice",
    ),
    "tests/training/test_growth.py": (
        "test_a_finished_game_lets",
        "test_every_search_of_a_round_grows[openspiel",
        "test_every_search_of_a_round_grows[tic_tac_toe",
    ),
    "tests/training/test_loop.py": (
        "test_a_run_continues_with_another_number_of_workers",
        "test_kill_9_at_five_random_moments[rebel-warm]",
        "test_a_resumed_run_is_the_uninterrupted_one[sog-stops1]",
        "test_a_resumed_run_is_the_uninterrupted_one[rebel-warm-stops1]",
        "test_a_resumed_run_is_the_uninterrupted_one[rebel-warm-stops0]",
        "test_a_round_that_is_dropped_is_played_again[rebel-warm-1]",
        "test_kill_9_at_five_random_moments[rebel-fp]",
        "test_a_round_that_is_dropped_is_played_again[rebel-warm-61]",
    ),
    "tests/training/test_row_kills.py": ("test_kill_9_while_a_window_of_several_files_is_saved",),
    "tests/training/test_runs.py": (
        "test_a_run_that_goes_on_began",
        "test_workers_die_with_the_learner",
    ),
    "tests/training/test_stream.py": (
        "test_a_first_save_that_fails",
        "test_a_learner_that_dies_at_the_end",
        "test_a_run_is_saved_and_goes_on",
        "test_a_run_whose_end_cannot_be_kept",
        "test_a_run_without_rounds_keeps_its_networks",
        "test_a_save_that_fails_is_said",
        "test_actors_are_given_the_round",
        "test_actors_wait_for_a_slow_learner",
        "test_measuring_is_no_training",
        "test_one_evaluator_answers_all_actors",
        "test_whatever_dies_is_replaced",
        "test_samples_per_row_are_as_set[local]",
        "test_the_last_network_is_measured",
    ),
    "tests/training/test_workers.py": ("test_a_workers_error_is_told_in_one_line_and_a_round_is_dropped",),
    "tests/web/test_browser.py": ("test_",),
    "tests/web/test_every_game.py": ("test_a_whole_game_by_what_its_pages_draw[chess",),
    "tests/web/test_games.py": ("test_an_agent_of_ones_own_comes_from_the_command_line",),
    "tests/web/test_leaks.py": ("test_two_hundred_lines_of_worlds_look_the_same",),
    "tests/web/test_looks.py": ("test_a_page_of_holdem_has_cards_chips_and_ranges",),
    "tests/web/test_one_picture.py": ("test_a_search_of_leduc_is_drawn_alike_on_the_page_and_in_a_notebook",),
    "tests/web/test_positions.py": ("test_an_address_gives_the_same_picture_twice_and_in_another_process",),
    "tests/web/test_server.py": ("test_a_killed_servers_game_is_played_on",),
}


def pytest_collection_finish() -> None:
    """Whatever is there by now stays to the end: the collector need not look at it after each module."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark the slow ones."""
    for item in items:
        path, _, name = item.nodeid.partition("::")
        if name.startswith(SLOW.get(path, ("no test",))):
            item.add_marker(pytest.mark.slow)
