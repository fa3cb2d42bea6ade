"""The learning algorithms: how each trains, plays and is measured.

An algorithm string such as `rebel(solver=fp,warm=15)` names one with its settings. To read one, begin with its folder's
`__init__`. base.py says what an algorithm is, settings.py how any setting is changed by its name, and table.py which
algorithms there are. Each algorithm has a folder, with three exceptions: boards/ is what Student of Games and AlphaZero
share, policy/ has three policy learners and what SePoT takes from them, and distil/ makes a network for Student of
Games of what SePoT learned. An algorithm imports boards/ and policy/, and no other algorithm's folder.
"""
