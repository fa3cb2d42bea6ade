"""The web pages of `sog serve`: games to play, searches and training runs to look at.

Read guard and forms (who may ask, and what), offers (what is offered), tables (games in play), looks and views (what a
viewer may know of one), drawn, files and pages (SVG, its files and HTML of views), asked, lanes, searching and thinker
(processes in which agents live), positions and watching, compared and beside (two searchers), solved and spots (hold'em
spots), loaded, runs, server (which address is answered by what).
"""
