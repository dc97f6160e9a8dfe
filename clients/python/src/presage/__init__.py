"""Presage: a world model behind an API. `Presage` is the client; `presage.aio`, `.gym` and `.trl` build on it."""

from .client import *  # noqa: F403
from .comparison import Comparison as Comparison
from .errors import *  # noqa: F403
from .reality import RealityAlarmError as RealityAlarmError
from .tables import Table as Table
from .uploads import import_traces as import_traces
from .worlds import *  # noqa: F403
