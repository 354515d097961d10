"""From files to published knowledge; beside the graph, never imported by it."""
