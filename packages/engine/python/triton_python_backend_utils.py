"""What a model.py imports as `pb_utils`."""

from __future__ import annotations

from c_python_backend_utils import *  # noqa: F403
from conch_stub.api import *  # noqa: F403
