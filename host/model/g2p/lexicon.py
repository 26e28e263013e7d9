# SPDX-License-Identifier: MIT
"""The CMU pronouncing dictionary in Festival's form (Debian package festlex-cmu), its vocabularies and splits."""

import re

LEXICON = '/usr/share/festival/dicts/cmu/cmudict-0.4.out'
PAD, BOS, EOS = 0, 1, 2
SPECIAL = ['<pad>', '<s>', '</s>']
LETTERS = list("'abcdefghijklmnopqrstuvwxyz")
SPLIT_MODULUS = 20

ENTRY = re.compile(r'\("([^"]*)" \S+ \((.*)\)\)\s*$')
SYLLABLE = re.compile(r'\(\(([^()]*)\) (\d)\)')


def fnv1a(data):
    """32-bit FNV-1a hash of bytes."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xffffffff
    return value


def split_of(word):
    """'test' words are never trained on nor used for a choice; 'dev' words are for choices; the rest is 'train'."""
    return {0: 'test', 1: 'dev'}.get(fnv1a(word.lower().encode()) % SPLIT_MODULUS, 'train')


def phonemes(syllables):
    """'((hh ax) 0) ((l ow) 1)' -> ('HH', 'AX0', 'L', 'OW1'): a syllable's stress is a digit on its vowel."""
    result = []
    for phones, stress in SYLLABLE.findall(syllables):
        for phone in phones.split():
            result.append(phone.upper() + (stress if phone[0] in 'aeiou' else ''))
    return tuple(result)


def read(path=LEXICON):
    """{lower-case word: [pronunciations]} in file order; words with other characters than a-z and ' are left out."""
    words = {}
    with open(path, encoding='latin-1') as lines:
        for line in lines:
            entry = ENTRY.match(line)
            if not entry:
                continue
            word, pronunciation = entry[1].lower(), phonemes(entry[2])
            if word and pronunciation and not set(word) - set(LETTERS):
                known = words.setdefault(word, [])
                if pronunciation not in known:
                    known.append(pronunciation)
    return words


def vocabularies(words):
    """Source and target tokens, special ones first."""
    return SPECIAL + LETTERS, SPECIAL + sorted({p for variants in words.values() for v in variants for p in v})
