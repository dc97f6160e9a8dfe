"""Presage: a world model behind an API. `Presage` is the client; `presage.aio`, `.gym` and `.trl` build on it."""

from .client import Episode as Episode
from .client import Presage as Presage
from .comparison import Comparison as Comparison
from .errors import *  # noqa: F403
from .tables import Table as Table
from .uploads import import_traces as import_traces
from .worlds import *  # noqa: F403
