"""Text and names put into SQL so that they stay text and names."""


def text(value: str) -> str:
    """A SQL string literal.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def name_of(name: str) -> str:
    """A quoted SQL name.

    >>> name_of("end of day")
    '"end of day"'
    """
    return '"' + name.replace('"', '""') + '"'
