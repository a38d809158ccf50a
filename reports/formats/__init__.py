"""What other programs read: JSON, JUnit XML, SARIF, Markdown, badges, data frames."""
