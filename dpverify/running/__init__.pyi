from .batches import (
    MEMORY_LIMIT as MEMORY_LIMIT,
    Runs as Runs,
    repeats as repeats,
    run as run,
    stream as stream,
)
from .executors import Executor as Executor
from .fingerprints import fingerprint as fingerprint
from .foresight import (
    CALL_LIMIT as CALL_LIMIT,
    LongRunWarning as LongRunWarning,
    TooCostlyError as TooCostlyError,
    call_limit as call_limit,
)
from .outputs import BatchMechanism as BatchMechanism, Block as Block, Output as Output
from .progress import Progress as Progress, RichProgress as RichProgress
from .randomness import BLOCK as BLOCK, Randomness as Randomness
from .store import Store as Store
from .subjects.structure import (
    StatedStep as StatedStep,
    StatedStructure as StatedStructure,
    single_noise as single_noise,
)
from .subjects.user_mechanisms import FunctionMechanism as FunctionMechanism, UserMechanism as UserMechanism
from .user_sessions import Limits as Limits, Target as Target
