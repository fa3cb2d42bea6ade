"""Games given history by history, many at once: the form that policy learners and SePoT need."""
