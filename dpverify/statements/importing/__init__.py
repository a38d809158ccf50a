"""Papers in LaTeX, Markdown or text, made into pages: what is certain is read, what is guessed is marked."""

from dpverify.statements.importing.folder import Imported, accept, import_paper

__all__ = ["Imported", "accept", "import_paper"]
