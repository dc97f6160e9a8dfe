"""Presage: a world model behind an API. `Presage` is the client; `presage.aio`, `.gym` and `.trl` build on it."""

from .client import Presage as Presage
from .comparison import Comparison as Comparison
from .episode import Episode as Episode
from .errors import *  # noqa: F403
