"""The nouns of the program: frozen models without I/O."""
