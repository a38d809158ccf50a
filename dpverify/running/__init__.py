"""Running mechanisms: randomness, blocks of runs, executors, progress, and the store of finished work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.running.batches import MEMORY_LIMIT, Runs, run, stream
    from dpverify.running.executors import Executor
    from dpverify.running.fingerprints import fingerprint
    from dpverify.running.foresight import CALL_LIMIT, TooCostlyError, call_limit
    from dpverify.running.outputs import Block, Mechanism, Output
    from dpverify.running.progress import Progress, RichProgress
    from dpverify.running.randomness import BLOCK, Randomness
    from dpverify.running.repetition import repeats
    from dpverify.running.store import Store
    from dpverify.running.subjects.structure import StatedStep, StatedStructure, single_noise
    from dpverify.running.subjects.targets import Target
    from dpverify.running.subjects.user_mechanisms import FunctionMechanism, UserMechanism
    from dpverify.running.user_sessions import Limits

__all__ = [
    "BLOCK",
    "CALL_LIMIT",
    "MEMORY_LIMIT",
    "Block",
    "Executor",
    "FunctionMechanism",
    "Limits",
    "Mechanism",
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

__getattr__ = lazy.attributes(
    __name__,
    {
        "BLOCK": "dpverify.running.randomness",
        "Block": "dpverify.running.outputs",
        "CALL_LIMIT": "dpverify.running.foresight",
        "Executor": "dpverify.running.executors",
        "FunctionMechanism": "dpverify.running.subjects.user_mechanisms",
        "Limits": "dpverify.running.user_sessions",
        "MEMORY_LIMIT": "dpverify.running.batches",
        "Mechanism": "dpverify.running.outputs",
        "Output": "dpverify.running.outputs",
        "Progress": "dpverify.running.progress",
        "Randomness": "dpverify.running.randomness",
        "RichProgress": "dpverify.running.progress",
        "Runs": "dpverify.running.batches",
        "StatedStep": "dpverify.running.subjects.structure",
        "StatedStructure": "dpverify.running.subjects.structure",
        "Store": "dpverify.running.store",
        "Target": "dpverify.running.subjects.targets",
        "TooCostlyError": "dpverify.running.foresight",
        "UserMechanism": "dpverify.running.subjects.user_mechanisms",
        "call_limit": "dpverify.running.foresight",
        "fingerprint": "dpverify.running.fingerprints",
        "repeats": "dpverify.running.repetition",
        "run": "dpverify.running.batches",
        "single_noise": "dpverify.running.subjects.structure",
        "stream": "dpverify.running.batches",
    },
)
