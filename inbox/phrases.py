"""What somebody looks for in a text, and where it stands there. Pure.

A word is a run of letters, marks and digits, whatever stands around it: ``agora-node_7`` is three words in a row.
Capital and small letters are alike, and so are Latin letters with and without marks. The databases' indexes are built
along the same lines; they only propose messages, and what is decided here is what is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from roster.errors import Invalid

LONGEST = 200  # characters of what is looked for
BEFORE, AROUND = 60, 240  # characters shown before the first hit, and in all
CUT = 20  # characters after which a stretch that is cut out begins or ends within a word

CHUNKS = re.compile(r'"([^"]*)("?)|([^\s"]+)')
GAP = re.compile(r"[\x00-\x1f!-/:-@[-`{-\x7f]")  # what is ASCII and neither a letter, a digit nor a space
NOT_ASCII = re.compile(r"[^\x00-\x7f]{1,32}")  # at most so much, since it is kept
SELECTORS = range(0xFE00, 0xFE10)  # they say how the sign before them is drawn
MARKS = re.compile(r"[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a message's ``bare`` text, else as it was sent; ``hit`` where it is what was looked for."""

    text: str
    hit: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand in a row; ``begins`` where the last of them is only the beginning of one."""

    words: tuple[str, ...]
    begins: bool = False
    pattern: re.Pattern = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        end = "" if self.begins else r"(?!\S)"
        object.__setattr__(self, "pattern", re.compile(r"(?<!\S)" + r"\s++".join(self.words) + end))

    def first(self, folded: str) -> re.Match | None:
        """Where it stands first. Most texts lack one of the words, which is seen a hundred times faster."""
        return self.pattern.search(folded) if all(word in folded for word in self.words) else None


def asked(text: str) -> tuple[Phrase, ...]:
    """What ``text`` asks for: each word, each "quoted phrase", and the last one, if no quote closes it, as far as it is
    typed. Nothing in it is an operator. Raises ``Invalid`` where it is too long or holds no word."""
    if len(text) > LONGEST:
        raise Invalid("q", f"is longer than {LONGEST} characters.")
    found = []
    for quoted, closed, plain in CHUNKS.findall(bare(unicodedata.normalize("NFC", text))):
        if words := tuple(fold(quoted or plain).split()):
            found.append((words, not closed))
    if not found:
        raise Invalid("q", "holds no letter and no digit to look for.")
    *others, (words, unfinished) = found
    return (*(Phrase(words) for words, _ in others), Phrase(words, begins=unfinished))


def bare(text: str) -> str:
    """``text`` without the marks that stand beside their letters, so that each letter is one character. Letters are not
    put together with them: that takes time in the square of their number, and a message may have 131,000."""
    return text if text.isascii() else MARKS.sub("", text)


class _Folding(dict):
    """For each character what it is compared as, worked out when it is first met: a space if it is part of no word."""

    def __missing__(self, code: int) -> str:
        plain, *marks = unicodedata.normalize("NFD", chr(code))
        char = plain if marks and plain.isascii() else chr(code)
        kind = unicodedata.category(char)
        is_part = (kind[0] == "L" or kind in ("Mn", "Mc", "Nd", "Nl")) and code not in SELECTORS
        self[code] = char.lower()[0] if is_part else " "
        return self[code]


_FOLDING = _Folding()


@lru_cache(4096)
def _fold_run(run: str) -> str:
    return run.translate(_FOLDING)


def fold(text: str) -> str:
    """``text`` as it is compared, words and spaces: as many characters, so that a place in one is the place in the
    other. A language writes the same few thousand words over and over, so what is not ASCII is kept by the word."""
    if not text.isascii():
        text = NOT_ASCII.sub(lambda run: _fold_run(run[0]), text)
    return GAP.sub(" ", text.lower())


def found_in(phrases: Iterable[Phrase], subject: str, body: str) -> tuple[Piece, ...]:
    """Where a message that has all ``phrases`` in its subject or body has them first, in the body if it can be; ()
    where it lacks one."""
    subject, body = bare(subject), bare(body)
    in_subject, in_body = fold(subject), fold(body)
    places = [(phrase.first(in_body), phrase.first(in_subject)) for phrase in phrases]
    if not all(map(any, places)):
        return ()
    if firsts := [place.start() for place, _ in places if place]:
        return _around(body, min(firsts), _marks(phrases, in_body, min(firsts)))
    return _around(subject, 0, _marks(phrases, in_subject, 0))


def _marks(phrases: Iterable[Phrase], folded: str, begin: int) -> list[tuple[int, int]]:
    """The spans of all hits in the stretch that is shown from the hit at ``begin`` on, in order; they may overlap."""
    return sorted(span for phrase in phrases for span in _spans(phrase, folded, begin))


def _spans(phrase: Phrase, folded: str, begin: int) -> Iterator[tuple[int, int]]:
    for match in phrase.pattern.finditer(folded, begin):
        if match.start() >= begin + AROUND:
            return
        yield match.span()


def _around(text: str, hit: int, marks: list[tuple[int, int]]) -> tuple[Piece, ...]:
    """The stretch of ``text`` around the place ``hit``, in pieces; it is cut between words where there are some."""
    begin, end = _begin(text, hit), _end(text, hit)
    pieces, at = [Piece("…")] if begin else [], begin
    for first, last in marks:
        first, last = max(first, at), min(last, end)
        if first < last:
            pieces += [Piece(text[at:first]), Piece(text[first:last], hit=True)]
            at = last
    pieces += [Piece(text[at:end]), Piece("…" if end < len(text) else "")]
    return tuple(piece for piece in pieces if piece.text)


def _begin(text: str, hit: int) -> int:
    begin = max(0, hit - BEFORE)
    space = re.search(r"\s\S", text[begin : min(begin + CUT, hit)]) if begin else None
    return begin + space.start() + 1 if space else begin


def _end(text: str, hit: int) -> int:
    end = hit - BEFORE + AROUND
    space = re.search(r"\s\S*\Z", text[end - CUT : end]) if end < len(text) else None
    return end - CUT + space.start() if space else min(end, len(text))
