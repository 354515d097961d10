"""The command line: thin, it only parses, calls and prints."""
