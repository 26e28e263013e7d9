/* SPDX-License-Identifier: MIT */
/* Makes and reads the texts and words of model workloads. */
#include "workload/model_texts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MOST_SENTENCES = 12, LARGEST_FILE = 1 << 30 };

/* Sentences of different lengths; a text of the benchmark is several of them in a row. */
static const char *const sentences[] = {
    "The ferry was late again.",
    "She keeps a list of every bird that has landed on the balcony since spring.",
    "Rain is expected in the north by Thursday, with strong winds along the coast and a chance of snow above eight hundred metres.",
    "How do I reset the password of an account whose e-mail address no longer exists?",
    "Bread needs flour, water, salt and time.",
    "The committee agreed that the bridge should be repaired before the end of the year, but could not say where the money would come "
    "from.",
    "A prime number has exactly two divisors.",
    "My grandmother crossed three borders on foot with two children, a sewing machine and a recipe for plum dumplings that nobody in the "
    "family has ever "
    "managed to copy.",
    "Please return the signed form within fourteen days.",
    "In the second half the visitors pressed higher up the pitch, won the ball back sooner, and scored twice from corners that had looked "
    "harmless.",
    "The patient reports mild pain in the left knee after running, none at rest, and no swelling.",
    "Nothing happened.",
    "Copper conducts heat about twenty times as well as stainless steel, which is why good pans often have a copper core between two "
    "layers of steel.",
    "When the lights came back on, the third chair was empty and the window stood open.",
    "The library opens at nine on weekdays and at eleven on Sundays; it is closed on public holidays.",
    "Users who upgraded from the previous release should run the migration tool once, check its report for skipped entries, and only then "
    "delete the old "
    "database.",
    "The moon has no weather.",
    "Our train stood between two fields for an hour while a man in an orange vest walked slowly along the track, stopped, looked at a "
    "signal, shook his "
    "head, and walked slowly back.",
    "Interest rates rose by a quarter of a point, as most analysts had predicted.",
    "Is there a vegetarian restaurant near the station that is still open after ten in the evening?",
    "The octopus unscrewed the lid from the inside.",
    "Volcanic ash makes fertile soil, so people keep returning to the slopes of mountains that have buried their villages more than once.",
    "Turn left at the old mill, follow the stream for a mile, and you will see a green gate.",
    "He tuned the piano twice, first by ear and then with an instrument, and preferred the first.",
};
static const size_t sentence_count = COUNT(sentences);

/* Common words of 2 to 13 letters. */
static const char *const words[] = {
    "about",     "accident", "across",      "action",   "afternoon",  "against",    "almost",   "already",   "although",  "animal",
    "another",   "answer",   "apple",       "around",   "autumn",     "balance",    "basket",   "beautiful", "because",   "become",
    "before",    "behind",   "believe",     "between",  "bicycle",    "blanket",    "bottle",   "branch",    "bread",     "bridge",
    "bright",    "brother",  "bucket",      "building", "butter",     "button",     "camera",   "candle",    "careful",   "castle",
    "ceiling",   "century",  "certain",     "chair",    "change",     "cheese",     "children", "choice",    "circle",    "climate",
    "cloud",     "coffee",   "colour",      "company",  "compare",    "concert",    "copper",   "corner",    "cotton",    "country",
    "cousin",    "crystal",  "culture",     "curtain",  "dance",      "danger",     "daughter", "decide",    "deep",      "desert",
    "different", "dinner",   "distance",    "doctor",   "dream",      "drive",      "early",    "earth",     "education", "eight",
    "electric",  "elephant", "empty",       "engine",   "enough",     "evening",    "example",  "eye",       "family",    "famous",
    "farmer",    "father",   "feather",     "finger",   "floor",      "flower",     "forest",   "forget",    "freedom",   "friend",
    "garden",    "gentle",   "glass",       "go",       "government", "grammar",    "grass",    "guitar",    "hammer",    "happy",
    "harbour",   "heart",    "heavy",       "history",  "holiday",    "honest",     "horse",    "hospital",  "hundred",   "hungry",
    "idea",      "imagine",  "important",   "island",   "jacket",     "journey",    "juice",    "jungle",    "justice",   "kettle",
    "kitchen",   "knee",     "knowledge",   "ladder",   "language",   "laugh",      "leather",  "lemon",     "letter",    "library",
    "light",     "listen",   "little",      "machine",  "magazine",   "market",     "measure",  "medicine",  "memory",    "message",
    "middle",    "minute",   "mirror",      "modern",   "moment",     "money",      "morning",  "mother",    "mountain",  "music",
    "mystery",   "narrow",   "nature",      "needle",   "neighbour",  "night",      "north",    "nothing",   "number",    "ocean",
    "office",    "onion",    "opinion",     "orange",   "orchestra",  "ordinary",   "paper",    "parent",    "patience",  "pencil",
    "people",    "perhaps",  "physical",    "picture",  "planet",     "pleasure",   "pocket",   "poetry",    "possible",  "potato",
    "president", "problem",  "question",    "quiet",    "rabbit",     "railway",    "rainbow",  "reason",    "remember",  "rhythm",
    "river",     "scissors", "secret",      "sentence", "shoulder",   "silver",     "sister",   "south",     "spring",    "station",
    "strange",   "sugar",    "temperature", "thought",  "together",   "university",
};
static const size_t word_count = COUNT(words);

/* Adds a text of `size` bytes. Its address is set later by point(), because the storage may still move. */
static clf_status add(clfi_texts *texts, size_t size)
{
    CLF_TRY(clfi_grow(&texts->items, &texts->capacity, texts->count + 1, sizeof *texts->items, "texts"));
    texts->items[texts->count++] = (clf_text){NULL, size};
    return CLF_OK;
}

/* Sets the addresses of all texts. They lie one after another in the storage with `gap` bytes between them. */
static void point(clfi_texts *texts, size_t gap)
{
    const char *at = clfi_str_text(&texts->storage);
    for (size_t i = 0; i < texts->count; i++) {
        texts->items[i].data = at;
        at += texts->items[i].size + gap;
    }
}

clf_status clfi_texts_make(size_t count, clfi_texts *out)
{
    *out = (clfi_texts){.storage = CLF_STR_INIT};
    for (size_t i = 0; i < count; i++) {
        const size_t begin = out->storage.length, many = 1 + i * 5 % MOST_SENTENCES;
        for (size_t j = 0; j < many; j++)
            CLF_TRY(clfi_str_appendf(&out->storage, "%s%s", j ? " " : "", sentences[(i + j) % sentence_count]));
        CLF_TRY(add(out, out->storage.length - begin));
    }
    point(out, 0);
    return CLF_OK;
}

clf_status clfi_texts_words(size_t count, clfi_texts *out)
{
    *out = (clfi_texts){.storage = CLF_STR_INIT};
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i % word_count];
        CLF_TRY(add(out, strlen(word)));
        out->items[i].data = word;
    }
    return CLF_OK;
}

clf_status clfi_texts_read(const char *path, clfi_texts *out)
{
    *out = (clfi_texts){.storage = CLF_STR_INIT};
    CLF_TRY(clfi_text_read(path, LARGEST_FILE, &out->storage));
    const char *at = clfi_str_text(&out->storage), *end = at + out->storage.length;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        CLF_TRY(add(out, length));
        at += length + 1;
    }
    point(out, 1);
    for (size_t i = 0; i < out->count; i++)
        while (out->items[i].size > 0 && out->items[i].data[out->items[i].size - 1] == '\r')
            out->items[i].size--;
    return CLF_OK;
}

void clfi_texts_free(clfi_texts *texts)
{
    free(texts->items);
    clfi_str_free(&texts->storage);
    *texts = (clfi_texts){0};
}
