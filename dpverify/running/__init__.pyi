from .batches import MEMORY_LIMIT, Runs, repeats, run, stream
from .executors import Executor
from .fingerprints import fingerprint
from .foresight import CALL_LIMIT, LongRunWarning, TooCostlyError, call_limit
from .outputs import BatchMechanism, Block, Output
from .progress import Progress, RichProgress
from .randomness import BLOCK, Randomness
from .store import Store
from .subjects.structure import StatedStep, StatedStructure, single_noise
from .subjects.user_mechanisms import FunctionMechanism, UserMechanism
from .user_sessions import Limits, Target

__all__ = [
    "BLOCK",
    "CALL_LIMIT",
    "MEMORY_LIMIT",
    "BatchMechanism",
    "Block",
    "Executor",
    "FunctionMechanism",
    "Limits",
    "LongRunWarning",
    "Output",
    "Progress",
    "Randomness",
    "RichProgress",
    "Runs",
    "StatedStep",
    "StatedStructure",
    "Store",
    "Target",
    "TooCostlyError",
    "UserMechanism",
    "call_limit",
    "fingerprint",
    "repeats",
    "run",
    "single_noise",
    "stream",
]
