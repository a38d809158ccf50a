"""Theorems on Markdown pages: letters in tables, displays with notes, which any forge shows and `prove` proves."""

from dpverify.statements.pages.page import Display, Page, PageError, line_of, read_page, where_on

__all__ = ["Display", "Page", "PageError", "line_of", "read_page", "where_on"]
