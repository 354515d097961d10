"""The wiring: which node follows which, within what bounds."""
