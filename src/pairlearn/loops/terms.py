"""Terms of texts as sparse rows, and what two such rows share: compiled and parallel.

Texts come as one array of code points with the place where each begins; tokens are parted by single blanks. A term is a
number: 17 bits of a hash, and a last bit that says whether the token holds a digit, since numbers and codes that differ
count more than words that do.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints

TERMS = 2**18
"""How many terms are told apart."""
BLANK = 32
ROW_FEATURES = 10
"""Numbers that `compare_rows` writes per pair."""


@nb.njit(cache=True)
def _folded(mark: np.uint64, digit: int) -> int:
    mark ^= mark >> np.uint64(29)
    mark *= np.uint64(0xBF58476D1CE4E5B9)
    mark ^= mark >> np.uint64(32)
    return int((mark & np.uint64(TERMS // 2 - 1)) << np.uint64(1)) | digit


@nb.njit(cache=True)
def _mixed(mark: np.uint64, character: int) -> np.uint64:
    return (mark ^ np.uint64(character)) * np.uint64(0x100000001B3)


@threaded()
def word_terms(chars: Ints, starts: Ints, places: Ints, counts: Ints, out: Ints) -> None:
    """Terms of the words of every text, from out[places[i]] on; counts[i] is how many there are."""
    for i in nb.prange(len(starts) - 1):
        mark, digit, length, found = np.uint64(14695981039346656037), 0, 0, places[i]
        for p in range(starts[i], starts[i + 1] + 1):
            here = BLANK if p == starts[i + 1] else chars[p]
            if here != BLANK:
                mark, length = _mixed(mark, here), length + 1
                digit |= 48 <= here <= 57
            elif length:
                out[found] = _folded(mark, digit)
                found += 1
                mark, digit, length = np.uint64(14695981039346656037), 0, 0
        counts[i] = found - places[i]


@threaded()
def gram_terms(chars: Ints, starts: Ints, low: int, high: int, places: Ints, counts: Ints, out: Ints) -> None:
    """Terms of the n-grams, low ≤ n ≤ high, within the words of every text, a blank before and behind each word."""
    for i in nb.prange(len(starts) - 1):
        found = places[i]
        for p in range(starts[i] - 1, starts[i + 1] - (starts[i] == starts[i + 1])):
            mark = np.uint64(14695981039346656037)
            for n in range(1, high + 1):
                q = p + n - 1
                inside = starts[i] <= q < starts[i + 1]
                here = chars[q] if inside else BLANK
                mark = _mixed(mark, here)
                if n >= low:
                    out[found] = _folded(mark, 0)
                    found += 1
                if q >= starts[i + 1] or (here == BLANK and n > 1):
                    break
        counts[i] = found - places[i]


@threaded()
def count_terms(places: Ints, counts: Ints, out: Ints, times: Ints) -> None:
    """Sort the counts[i] terms of every text, keep each once, and write how often it occurred; counts[i] shrinks."""
    for i in nb.prange(len(counts)):
        first, found = places[i], 0
        row = np.sort(out[first : first + counts[i]])
        for k in range(len(row)):
            if k > 0 and row[k] == row[k - 1]:
                times[first + found - 1] += 1
            else:
                out[first + found] = row[k]
                times[first + found] = 1
                found += 1
        counts[i] = found


@threaded()
def dot_rows(
    indptr: Ints, indices: Ints, data: Floats, indptr2: Ints, indices2: Ints, data2: Floats,
    left: Ints, right: Ints, out: Floats,
) -> None:  # fmt: skip
    """out[k] = ⟨row left_k, row right_k⟩ of two sparse matrices with sorted indices."""
    for k in nb.prange(len(left)):
        p, p_end = indptr[left[k]], indptr[left[k] + 1]
        q, q_end = indptr2[right[k]], indptr2[right[k] + 1]
        total = 0.0
        while p < p_end and q < q_end:
            if indices[p] == indices2[q]:
                total += data[p] * data2[q]
                p += 1
                q += 1
            elif indices[p] < indices2[q]:
                p += 1
            else:
                q += 1
        out[k] = total


@threaded()
def compare_rows(
    indptr: Ints, indices: Ints, data: Floats, indptr2: Ints, indices2: Ints, data2: Floats, idf: Floats,
    left: Ints, right: Ints, out: Floats,
) -> None:  # fmt: skip
    """What two rows of terms have in common, (n, 10), idf-weighted.

    Columns: 0 dot product; idf of 1 shared, 2 left and 3 right terms together; the largest idf of 4 a shared, 5 a left
    and 6 a right term that the other lacks; how many terms with digits are 7 shared, 8 left only, 9 right only.
    """
    for k in nb.prange(len(left)):
        p, p_end = indptr[left[k]], indptr[left[k] + 1]
        q, q_end = indptr2[right[k]], indptr2[right[k] + 1]
        row = out[k]
        row[:] = 0.0
        while p < p_end or q < q_end:
            a = indices[p] if p < p_end else TERMS
            b = indices2[q] if q < q_end else TERMS
            term = min(a, b)
            weight, digit = idf[term], term & 1
            if a == b:
                row[0] += data[p] * data2[q]
                row[1] += weight
                row[4] = max(row[4], weight)
                row[7] += digit
            side = 5 if a < b else 6
            if a != b:
                row[side] = max(row[side], weight)
                row[side + 3] += digit
            if a == term:
                row[2] += weight
                p += 1
            if b == term:
                row[3] += weight
                q += 1


@threaded()
def nearest_rows(
    indptr: Ints, indices: Ints, data: Floats, starts: Ints, rows: Ints, weights: Floats,
    n_rows: int, own: Ints, budget: int, found: Ints, scores: Floats,
) -> None:  # fmt: skip
    """The k rows of an inverted index that share most with each query, k = found.shape[1]; −1 where there are fewer.

    The index holds rows[starts[t] … starts[t + 1]] and their weights for each term t. Terms of a query are taken from
    the rarest on until their lists are longer than `budget` together: common terms cost most and tell least. own[i]
    is a row that is never found for query i, −1 for none.
    """
    k, parts = found.shape[1], min(64, max(1, len(indptr) - 1))
    n = len(indptr) - 1
    for part in nb.prange(parts):
        total, touched = np.zeros(n_rows, dtype=np.float32), np.empty(n_rows, dtype=np.int32)
        for i in range(part * n // parts, (part + 1) * n // parts):
            first, last = indptr[i], indptr[i + 1]
            lengths = np.empty(last - first, dtype=np.int64)
            for p in range(first, last):
                lengths[p - first] = starts[indices[p] + 1] - starts[indices[p]]
            seen, spent = 0, 0
            for o in np.argsort(lengths):
                spent += lengths[o]
                if spent > budget and seen > 0:
                    break
                term, weight = indices[first + o], data[first + o]
                for e in range(starts[term], starts[term + 1]):
                    row = rows[e]
                    if total[row] == 0.0:
                        touched[seen] = row
                        seen += 1
                    total[row] += weight * weights[e]
            if own[i] >= 0:
                total[own[i]] = 0.0
            found[i, :] = -1
            scores[i, :] = 0.0
            for s in range(seen):
                row, score = touched[s], total[touched[s]]
                total[row] = 0.0
                if score <= scores[i, k - 1]:
                    continue
                place = k - 1
                while place > 0 and scores[i, place - 1] < score:
                    scores[i, place], found[i, place] = scores[i, place - 1], found[i, place - 1]
                    place -= 1
                scores[i, place], found[i, place] = score, row
