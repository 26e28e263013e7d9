#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a corpus of lines of mixed length, the same for the same arguments. embed is measured with a million of them.
usage: make_corpus.py LINES [SEED] > corpus.txt

Lengths are those of text collections: most lines are short, a few are long (log-normal, median 12 words, at most 400). Words are drawn
with Zipf's frequencies from 50,000 made-up ones, so that tokenizers meet frequent words and rare pieces."""
import random
import sys

SYLLABLES = [c + v + e for c in "b c d f g h l m n p r s t v st tr".split() for v in "a e i o u".split() for e in ("", "n", "r", "s", "t")]
COMMON = "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which".split()


def main(lines, seed):
    rng = random.Random(seed)
    words = COMMON + ["".join(rng.choices(SYLLABLES, k=rng.choice((1, 2, 2, 3, 3, 4)))) for _ in range(50000)]
    total, cumulative = 0.0, []
    for rank in range(len(words)):
        total += 1 / (rank + 2)
        cumulative.append(total)
    for _ in range(lines):
        length = min(400, max(1, round(rng.lognormvariate(2.5, 0.8))))
        sys.stdout.write(" ".join(rng.choices(words, cum_weights=cumulative, k=length)) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1)
