from .full_batch import FullBatchDescent as FullBatchDescent
