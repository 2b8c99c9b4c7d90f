"""Rows of text as aligned lines, by the columns they take on a terminal."""

from unicodedata import combining, east_asian_width

NARROWEST = 12


def lay_out(rows, width=None, gives_way=0):
    """`rows` (equally long) as lines; with `width`, the column number `gives_way` shrinks until a line fits into it."""
    widths = [max(columns(row[column]) for row in rows) for column in range(len(rows[0]))]
    if width:
        excess = sum(widths) + 2 * (len(widths) - 1) - width
        widths[gives_way] = max(NARROWEST, widths[gives_way] - max(0, excess))
    lines = ("  ".join(_fit(cell, size) for cell, size in zip(row, widths)).rstrip() for row in rows)
    return [cut(line, width) for line in lines] if width else list(lines)


def columns(text):
    """How many columns `text` takes on a terminal: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(char):
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def cut(text, size):
    """The longest beginning of `text` that takes at most `size` columns."""
    while columns(text) > size:
        text = text[: min(size, len(text) - 1)]
    return text


def _fit(text, size):
    shown = text if columns(text) <= size else f"{cut(text, size - 3)}..."
    return shown + " " * (size - columns(shown))
