"""Words of a text, and the rank of texts for a query.

The scoring is rank-bm25's; its idf is replaced, because its own gives a matching word a negative weight in
one document and none in two. Statistics are those of all documents, even where only matching ones are scored.

Invariant: a document is ranked exactly when it shares a token with the query, and always above 0.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA_HANGUL = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d\uac00-\ud7af"
_RUN = re.compile(rf"[{_HAN}{_KANA_HANGUL}]+|[^\W{_HAN}{_KANA_HANGUL}]+")
_CJK = re.compile(rf"[{_HAN}{_KANA_HANGUL}]")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """(token, start, end) in order. Runs of CJK become bigrams (a lone character stays itself); identifiers
    are given whole and, if they have several, in their parts by case, underscore and digits."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        word = run[0]
        if _CJK.match(word):
            for at in range(max(1, len(word) - 1)):
                yield word[at : at + 2], start + at, min(start + at + 2, end)
            continue
        whole = _fold(word)
        bare = whole.strip("_")
        if bare:
            yield bare, start, end
        if word.isascii() and (whole != word or not word.isalpha()):
            pieces = list(_PIECE.finditer(word))
            if len(pieces) > 1:
                for piece in pieces:
                    yield _fold(piece[0]), start + piece.start(), start + piece.end()


def _fold(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


def tokenize(text: str) -> list[str]:
    return [token for token, _, _ in spans(text)]


def rank(query: str, documents: Sequence[str]) -> list[tuple[int, float]]:
    """(index, score) of every document that shares a token with `query`, best first; ties by index."""
    # Heavy: numpy comes with it, and most sessions never search.
    from rank_bm25 import BM25Okapi

    wanted = list(dict.fromkeys(tokenize(query)))
    lengths = 0
    found: list[int] = []
    candidates: list[list[str]] = []
    frequency: Counter[str] = Counter()
    for index, document in enumerate(documents):
        tokens = tokenize(document)
        lengths += len(tokens)
        shared = set(wanted).intersection(tokens)
        if shared:
            frequency.update(shared)
            found.append(index)
            candidates.append(tokens)
    if not found:
        return []
    scorer = BM25Okapi(candidates)
    scorer.idf = {
        token: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5))
        for token, count in frequency.items()
    }
    scorer.avgdl = lengths / len(documents)
    scores = [float(score) for score in scorer.get_scores(wanted)]
    return sorted(zip(found, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
