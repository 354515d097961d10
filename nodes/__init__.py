"""The stages of the graph, one a file; what can be a rule is a pure function in `rules`."""
