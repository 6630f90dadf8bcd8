"""The process that hosts one instance of a Python model. What it and the server say to each other: docs/python-wire.md."""
