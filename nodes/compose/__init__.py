"""The shapes of answers: from evidence to statements with their quotes."""
