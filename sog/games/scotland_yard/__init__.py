"""Scotland Yard on any map: rules, maps and their text files."""
