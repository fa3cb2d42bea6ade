"""The learning algorithms, one folder each: how it trains, plays and is measured.

An algorithm string such as `rebel(solver=fp,warm=15)` names one with its settings. To read one, begin with its folder's
`__init__`. base.py says what an algorithm is, settings.py how any setting is changed by its name, and table.py which
algorithms there are. An algorithm imports another only through boards/ and policy/, which several share.
"""
