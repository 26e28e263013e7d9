# SPDX-License-Identifier: MIT
"""Difficult texts for tokenizers, as bytes (some are no UTF-8 on purpose). The same seed gives the same texts."""
import random

SENTENCES = """The quick brown fox jumps over the lazy dog.
unaffable, unbelievably antidisestablishmentarianism; supercalifragilisticexpialidocious!
I can't, won't, shouldn't've: it's 5 o'clock -- isn't it?
Visit https://example.org/a_b-c?d=e%20f&g=[h] or mail foo.bar+baz@sub.example.com.
3.14159e-10 1,000,000 0x1F 12:34:56 2024-02-29 50% $9.99 #42 C++ C# a/b\\c <tag attr="v"/>
ALL CAPS, lower, MiXeD CaSe, camelCase, snake_case, kebab-case, SCREAMING_SNAKE
naïve café façade résumé Zürich Ångström crème brûlée piñata jalapeño smörgåsbord
nai\u0308ve cafe\u0301 fac\u0327ade re\u0301sume\u0301 Zu\u0308rich (decomposed)
Straße STRASSE ẞtraße groß Maß Fuß Weiß
İstanbul ıstanbul ISPARTA Iğdır DİYARBAKIR i\u0307 I ı İ ğĞ şŞ çÇ
ΟΔΥΣΣΕΥΣ Ὀδυσσεύς ὈΔΥΣΣΕΎΣ σοφός ΣΟΦΌΣ ς σ Σ ΌΣΟΣ άέήίόύώ ᾳ ῼ ᾼ ΐ ΰ
Привет, мир! Съешь ещё этих мягких французских булок, да выпей чаю. ЁЖИК Й й
Українська їжа єнот ґанок Їжак; Беларуская ўлада; Српски љубав Њега Џеп Ђак
Ѐ ѐ Ѝ ѝ Ӂ ӂ Ӑ ӑ Ѷ ѷ Ꙋ ꙋ
今天天气很好，我们去公园散步。你呢？
東京都に住んでいます。カタカナ、ひらがな、漢字。ﾊﾝｶｸ ｶﾞｷﾞ がぎぐげご パピプペポ
한국어 문장입니다. 안녕하세요? 뷁 쀍 각 갂 힣 ᄀ ᅡ ᆨ 각 ㄱㄴㄷ
臺灣繁體中文 㐀㐁 龥 鿿 𠀀𠀁 𪛖 𪜀 𫝀 𫠠 𬺰 豈更車 﨎 丽
ภาษาไทย สว\u0e31สด\u0e35คร\u0e31บ กำล\u0e31ง น\u0e49ำ ผ\u0e39\u0e49ใหญ\u0e48 ๆ ฯ ๑๒๓
עברית ש\u05b8\u05c1לו\u05b9ם עולם ב\u05b0\u05bcר\u05b5אש\u05b4\u05c1ית ״ציטוט״ \ufb1e ש\u05c1 א\u05bc
العربية السلام عليكم م\u064fح\u064eم\u064e\u0651د ﷺ ﷽ ٱل\u0652ع\u064eر\u064eب\u0650ي\u064e\u0651ة ١٢٣ ۴۵۶ ؟ ، ؛ لا ﻻ
ह\u093fन\u094dद\u0940 नमस\u094dत\u0947 द\u0941न\u093fय\u093e क\u094dषत\u094dर\u093fय ज\u093c\u093f\u0902दग\u0940 क\u093cख\u093cग\u093c \
ड\u093cढ\u093c ।॥ १२३
ব\u09be\u0982ল\u09be ব\u09bfশ\u09cdব ড\u09bcঢ\u09bcয\u09bc ক\u09cbন ক\u09ccন; ਪ\u0a70ਜ\u0a3eਬ\u0a40 ਸ\u0a3cਖ\u0a3c; \
ગ\u0ac1જર\u0abeત\u0ac0; ଓଡ\u0b3c\u0b3fଆ; தம\u0bbfழ\u0bcd க\u0bca க\u0bcb க\u0bcc; త\u0c46ల\u0c41గ\u0c41; ಕನ\u0ccdನಡ ಕ\u0cca; \
മലയ\u0d3eള\u0d02 ക\u0d4a; ස\u0dd2\u0d82හල ක\u0ddd
ພາສາລາວ; བ\u0f7cད་ས\u0f90ད། གངས་ལ\u0f97\u0f7cངས། ཀ\u0fb5; မ\u103cန\u103aမ\u102cဘ\u102cသ\u102c; ខ\u17d2ម\u17c2រ ភ\u17b6ស\u17b6; ქართული \
ᲥᲐᲠᲗᲣᲚᲘ; Հայերեն ԲԱՐԵՎ և; አማርኛ ሰላም።
ᏣᎳᎩ Ꭰ ꭰ ᏸ; ᐃᓄᒃᑎᑐᑦ; ᚠᚢᚦᚨᚱᚲ; ᠮᠣᠩᠭᠣᠯ; ꦧꦱꦗꦮ; ᬩᬮ\u1b36; ꯃ\uabe4ꯇ\uabe9; ߒߞߏ; ⵜⴰⵎⴰⵣⵉⵖⵜ; 𐐔𐐯𐑅𐐨𐑉𐐯𐐻; 𞤀𞤁𞤢
𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝐁𝐨𝐥𝐝 𝕊𝕥 𝒮 𝟘𝟙𝟚 Ⓐⓑ ㊀ ½ ¼ ² ³ ₁ ① Ⅳ ⅳ ℃ ℉ Å K Ω ﬁ ﬂ ﬀ ﬆ Ǆ ǅ ǆ ŉ ſ
Tiếng Việt: Đường, phở, nghĩa, ậẬ ếẾ ộỘ ữỮ; Yorùbá ẹ\u0300kọ\u0301; Lietuvių ėė\u0303; Čeština řŘ ů; Polski łŁ żŻ; Íslenska þÞ ðÐ æÆ
« Guillemets » “curly” ‘single’ „German“ ‚low‘ ‹x› — – ― … ‥ • · † ‡ ‰ ′ ″ ‴ ⁂ ⁇ ⸮ ⹂ ⹏ ⁊
± × ÷ ≠ ≤ ≥ ∞ ∑ ∫ √ ∂ ∈ ∉ ⊂ ∅ ∀ ∃ ¬ → ← ⇒ € £ ¥ ₹ ₽ ₿ ¢ © ® ™ § ¶ ° ª º ¡ ¿ ¦ ¨ ¯ ´ ¸ ^ ` ~ | + = < > $
a\u00adb soft\u00adhyphen zero\u200bwidth\u200cjoiner\u200dhere word\u2060joiner \ufeffbom\u200elrm\u200frlm \u202alre\u202c \
\u2066iso\u2069 \u2061f \u180emvs \u061calm
no\u00a0break\u2009thin\u200ahair\u2003em\u3000ideographic\u2028line\u2029para\u0085next\u202fnn\u205fmm\u200b\u1680ogham
👍 👍🏽 👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 🇩🇪🇫🇷 1\ufe0f\u20e3 #\ufe0f\u20e3 ❤\ufe0f ☺\ufe0e ☺\ufe0f 🧑🏿\u200d🚀 \
👩🏻\u200d❤\ufe0f\u200d💋\u200d👨🏾 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🫠 🥹 a👍b
z\u0334\u0321\u0356\u0308\u0301a\u0338l\u0335g\u0337o\u0334 é\u0302\u0303\u0304 q\u0323\u0307 q\u0323\u0307 ö\u0332 e\u20dd n\u20e3 \
x\u0338\u0338\u0338 \u034f a\u0361b
\U000e0041 \U000e01ef \ufe00 \ufe0e \ufe0f \U000e0100x  ￼ � \ufff9a\ufffab\ufffb \U0001d165\U0001d16e 𝅘\U0001d165\U0001d16e 𝅗\U0001d165 \
\u302a\u302e\u302f ゛゜ が
""".split("\n")[:-1]

WORDS = ("hello world the of running unaffable tokenization embeddings [SEP] don't naïve İi ß Σς 中文 한글 かな 🙂 fi ﬁ e\u0301 \u0301 a\u200db "
         "x\u00ady 1st 3.5 (a) \"q\" -- ... ## ##ing [UNK] [unused1] [unused99] [MASK]. _ a_b é È ﷺ ก\u0e47 ह\u093f \u093c").split(" ")

SPECIALS = ["[SEP]", "[CLS]", "[MASK]", "[UNK]", "[PAD]"]


def code_text(*codes):
    return "".join(map(chr, codes)).encode()


def special_texts():
    shapes = ["{}", " {} ", "a{}b", "a {} b", "{}{}", "{} {}", "({})", "[{}]", "{}.", "\u0301{}\u0301", "a\u200d{}", "{}s",
              "\u4e2d{}\u6587", "A{}\u00c9", "\x00{}\x00", "\n{}\t{}\r\n", "{0}x{0}", "##{}", "{}##ing", "x{}\u00adx"]
    for token in SPECIALS:
        for shape in shapes:
            yield shape.replace("{0}", "{}").replace("{}", token).encode()
        for broken in (token.lower(), token[:-1], token[1:], token.replace("[", "[ "), token.replace("[", "[["),
                       token[:2] + "\u200b" + token[2:], token.swapcase(), token[0] + "\u0301" + token[1:], token[:-1] + "\u0301]",
                       token + "\u0301"):
            yield ("a " + broken + " b").encode()
            yield broken.encode()
    yield "".join(SPECIALS).encode()
    yield "".join(SPECIALS * 20).encode()
    yield " ".join(SPECIALS * 3 + ["[unused0]", "[unused1]", "[UNUSED1]"]).encode()


def separator_texts():
    """Each control, white space, zero-width and format character inside a word, at its ends, and alone."""
    codes = list(range(0x21)) + list(range(0x7F, 0xA2)) + [
        0xAD, 0x34F, 0x600, 0x61C, 0x6DD, 0x70F, 0x890, 0x8E2, 0x115F, 0x1160, 0x1680, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x180F,
        0x3000, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0x110BD, 0x110CD, 0x13430, 0x1BCA0,
        0x1D173, 0x1FFFE, 0xE0001, 0xE0020, 0xE007F, 0xE0100, 0xE01EF, 0xE000, 0xF8FF, 0xF0000, 0xFFFFD, 0x100000, 0x10FFFD, 0x10FFFF,
        0x378, 0x2FE0, 0x0EBB]
    codes += list(range(0x2000, 0x2070))
    for code in codes:
        yield b"hel" + code_text(code) + b"lo " + code_text(code) + b"world" + code_text(code, code)
    for code in codes[:66]:
        yield code_text(code)


def invalid_texts():
    """Bytes that are no UTF-8: every kind of fault of Unicode's table 3-7, inside words and at the end."""
    broken = [bytes([lead]) for lead in range(0x80, 0x100)]
    broken += [b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
               b"\xf5\x80\x80\x80", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80", b"\xed\xa0", b"\xe2\x82",
               b"\xf0\x9f\x98", b"\xf0\x9f", b"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", b"\xff\xfe\xfd", b"\x80\x80\x80\x80", b"\xc3\xc3\xa9",
               b"\xc3\x28", b"\xe2\x28\xa1", b"\xe2\x82\x28", b"\xf0\x28\x8c\xbc", b"\xf0\x90\x28\xbc", b"\xf8\xa1\xa1\xa1\xa1",
               b"\xfc\xa1\xa1\xa1\xa1\xa1"]
    for part in broken:
        yield b"hel" + part + b"lo"
    for part in broken[128:]:
        yield part
        yield part + b" the " + part
        yield b"[SEP" + part + b"] [SEP]" + part


def long_texts(vocabulary):
    """(text, times): the text is repeated."""
    for times in (99, 100, 101, 102, 10000):
        for unit in ("a", "\u00e9", "e\u0301", "\u0431", "\uac00", "\u0915\u093f", "\U00010428", "\U0001f600", "x\u200d"):
            yield unit.encode(), times
    for unit in ("!", "-", "_.", "\u3002", "\u2026", "#", "[", "]", "\u4e2d", "a-", "ab ", "\u0301", "\u302e", "\U0001d165\u302e", "\x00",
                 " ", "\n", "\u200b", "[SEP]", "[SEP", "\ufffd"):
        for times in (7, 150, 1500):
            yield unit.encode(), times
    for unit in ("ing", "un", "tion", "hello", "\u00fcber"):
        for times in (3, 20, 33, 34, 50):
            yield unit.encode(), times


def block_texts(rng):
    """Characters of one block of 128 together, for all of Unicode that is not empty."""
    for start in list(range(0x80, 0x3400, 128)) + list(range(0x3400, 0xA000, 0x600)) + list(range(0xA000, 0xAC00, 128)) + \
            list(range(0xAC00, 0xD7A0, 0x400)) + list(range(0xD780, 0xD800, 64)) + list(range(0xE000, 0xF900, 0x600)) + \
            list(range(0xF900, 0x10000, 128)) + list(range(0x10000, 0x12000, 128)) + list(range(0x12000, 0x1B000, 0x400)) + \
            list(range(0x1B000, 0x20000, 128)) + list(range(0x20000, 0x33480, 0x1800)) + \
            [0xE0000, 0xE0080, 0xE0100, 0xE0180, 0xF1234, 0x10ABCD]:
        codes = [code for code in (start + rng.randrange(128) for _ in range(16)) if not 0xD800 <= code < 0xE000]
        yield code_text(*codes[:8]) + b" " + b" ".join(code_text(code) for code in codes[8:])


def combining_texts(rng):
    marks = list(range(0x300, 0x370)) + [
        0x93C, 0x94D, 0x5B0, 0x5B7, 0x64B, 0x651, 0x3099, 0x302E, 0x1D165, 0x1D16D, 0x1D17B, 0x8D4, 0x1B44, 0x0E38,
        0x0F72, 0x20D0, 0x20E8, 0x1AB0, 0x1DC0, 0xFE20, 0x1E000, 0x1E8D0, 0x1E944, 0x11446, 0x16AF0]
    bases = ["a", "E", "\u00e9", "\u01d5", "\u1e14", "\u1f82", "\u0390", "\uac01", "\u4e2d", "\uf900", "\u0958", "\u0f43", "\U0001d15e",
             "\u212b", "i", "\u0130", "1", "-", " ", ""]
    for _ in range(170):
        yield "".join(rng.choice(bases) + "".join(chr(rng.choice(marks)) for _ in range(rng.randrange(5))) for _ in range(4)).encode()


def vocabulary_texts(rng, vocabulary):
    whole = [token for token in vocabulary if not token.startswith("##") and not token.startswith("[")]
    pieces = [token[2:] for token in vocabulary if token.startswith("##")]
    for _ in range(260):  # words glued together from pieces, where the longest match may be the wrong one
        yield " ".join(rng.choice(whole) + "".join(rng.choice(pieces) for _ in range(rng.randrange(4))) for _ in range(3)).encode()
    for _ in range(120):
        yield " ".join(rng.choice((str.upper, str.title, str.swapcase, str))(rng.choice(whole)) for _ in range(6)).encode()
    for _ in range(60):
        yield " ".join(rng.choice(vocabulary) for _ in range(5)).encode()
    for _ in range(60):  # characters exchanged, dropped, doubled
        text = list(rng.choice(SENTENCES[:8]))
        for _ in range(6):
            at = rng.randrange(len(text))
            text[at] = rng.choice(("", text[at] * 2, rng.choice("abcxyz \u00e9\u0301-[]"), text[at].upper()))
        yield "".join(text).encode()


def mixed_text(rng):
    parts = [rng.choice(WORDS + SPECIALS) for _ in range(rng.randrange(1, 14))]
    return rng.choice((" ", " ", "  ", "", ", ")).join(parts).encode()


def damaged(rng, text):
    data = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def single_texts(vocabulary, seed=20240229):
    """(text, times) for the main file."""
    rng = random.Random(seed)
    fixed = [b"", b" ", b"a", b"."] + [s.encode() for s in SENTENCES] + [s.upper().encode() for s in SENTENCES] + \
        [w.encode() for w in WORDS]
    fixed += list(special_texts()) + list(separator_texts()) + list(invalid_texts()) + list(block_texts(rng)) + list(combining_texts(rng))
    fixed += list(vocabulary_texts(rng, vocabulary)) + [mixed_text(rng) for _ in range(120)]
    fixed += [damaged(rng, s.encode()) for s in SENTENCES for _ in range(3)]
    return [(text, 1) for text in fixed] + list(long_texts(vocabulary))


def variant_texts(vocabulary, seed, extra=()):
    """A few hundred texts for other settings."""
    rng = random.Random(seed)
    texts = [s.encode() for s in SENTENCES] + [s.upper().encode() for s in SENTENCES] + list(special_texts())[::5]
    texts += list(separator_texts())[::4] + list(combining_texts(rng))[:40] + list(block_texts(rng))[::6] + \
        list(vocabulary_texts(rng, vocabulary))[::10]
    words = WORDS + SPECIALS + list(extra) * 4
    for _ in range(140 if extra else 40):
        texts.append(rng.choice((" ", "", "  ", "-", "\t")).join(rng.choice(words) for _ in range(rng.randrange(1, 9))).encode())
    return [(text, 1) for text in texts] + [(b"a", 100), (b"a", 101), (b"!", 40)]
