"""The learning algorithms, one folder each: how it trains, plays and is measured.

An algorithm string such as `rebel(solver=fp,warm=15)` names one with its settings. To read one, begin with its folder's
`__init__`. base.py says what an algorithm is, settings.py how any setting is changed by its name, and table.py which
algorithms there are. Three folders are not algorithms: boards/ and policy/ are what several share, and the only way in
which an algorithm imports another; distil/ makes a network for Student of Games of what SePoT learned.
"""
