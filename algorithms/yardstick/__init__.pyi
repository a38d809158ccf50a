from .full_batch import FullBatchDescent

__all__ = ["FullBatchDescent"]
