"""Where work runs besides this process: processes of this machine, or a Ray cluster.

Read executor.py (the interface), local.py, on_ray.py, where.py (`--cluster`), parent_death.py.
"""
