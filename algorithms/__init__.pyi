from .contract import Algorithm as Algorithm, Guarantees as Guarantees
