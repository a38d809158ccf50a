"""Tables of records that hold more than numbers: text, dates, truth values, what is missing."""
