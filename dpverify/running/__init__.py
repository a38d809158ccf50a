"""Running mechanisms: randomness, blocks of runs, executors, progress, and the store of finished work."""

from dpverify.running.batches import MEMORY_LIMIT, Runs, run, stream
from dpverify.running.executors import Executor
from dpverify.running.fingerprint import fingerprint
from dpverify.running.outputs import Block, Mechanism, Output
from dpverify.running.progress import Progress, RichProgress
from dpverify.running.randomness import BLOCK, Randomness
from dpverify.running.store import Store
from dpverify.running.user_mechanisms import UserMechanism

__all__ = [
    "BLOCK",
    "MEMORY_LIMIT",
    "Block",
    "Executor",
    "Mechanism",
    "Output",
    "Progress",
    "Randomness",
    "RichProgress",
    "Runs",
    "Store",
    "UserMechanism",
    "fingerprint",
    "run",
    "stream",
]
