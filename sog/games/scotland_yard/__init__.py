"""Scotland Yard on any map: rules, maps and their text files.

Read map.py (stations and links), rules.py (the settings), moves.py (tickets and moves), game.py (the game by public
states); then what networks see: features.py, station_map.py, station_inputs.py.
"""
