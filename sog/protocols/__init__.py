"""Protocols: UCI and GTP both ways, ACPC both ways, hand histories, and tournaments.

- engine.py, lines.py, words.py: the loop of an engine, and how lines of other programs are read.
- uci.py, chess_setup.py; gtp.py, gtp_clock.py, go_setup.py: our engines.
- engine_process.py, uci_client.py, gtp_client.py: other programs' engines.
- acpc_states.py, acpc_client.py, acpc_dealer.py, phh.py, phh_sources.py: poker.
- web_api.py, web_hands.py; slumbot.py, gtowizard.py: poker at servers of the web.
- tournament_file.py, opening_book.py, tournament.py, tournament_opponents.py, tournament_hands.py: tournaments.
"""
