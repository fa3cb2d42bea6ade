"""Where work runs besides this process: processes of this machine, or a Ray cluster."""
