"""Pages in an editor: what was read and found of each display, while the page is written."""
