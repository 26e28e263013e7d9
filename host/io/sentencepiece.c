/* SPDX-License-Identifier: MIT */
/* Reads SentencePiece's ModelProto (sentencepiece_model.proto): the fields that tokenizing needs; others are skipped. */
#include "io/sentencepiece.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* How a field is stored. */
enum { VARINT = 0, FIXED_64 = 1, BYTES = 2, FIXED_32 = 5 };

/* A message of protocol buffers: the part that is not read yet. */
typedef struct message {
    const char *at, *end, *start;
    const char *name;
} message;

typedef struct field {
    uint64_t number;
    int kind;
    uint64_t value;   /* of VARINT and FIXED */
    const char *data; /* of BYTES */
    size_t size;
} field;

static clf_status cut_short(const message *m)
{
    CLF_FAIL(CLF_FORMAT, "%s: byte %zu: a field is cut short", m->name, (size_t)(m->at - m->start));
}

static clf_status read_varint(message *m, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (m->at == m->end)
            return cut_short(m);
        const unsigned char byte = (unsigned char)*m->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_FORMAT, "%s: byte %zu: a number of more than 64 bits", m->name, (size_t)(m->at - m->start));
}

static clf_status read_fixed(message *m, size_t size, uint64_t *out)
{
    *out = 0;
    if ((size_t)(m->end - m->at) < size)
        return cut_short(m);
    memcpy(out, m->at, size); /* both the file and the host are little-endian */
    m->at += size;
    return CLF_OK;
}

/* The next field; the message is not at its end. */
static clf_status read_field(message *m, field *out)
{
    uint64_t key, size;
    CLF_TRY(read_varint(m, &key));
    *out = (field){.number = key >> 3, .kind = (int)(key & 7)};
    switch (out->kind) {
    case VARINT:
        return read_varint(m, &out->value);
    case FIXED_64:
        return read_fixed(m, 8, &out->value);
    case FIXED_32:
        return read_fixed(m, 4, &out->value);
    case BYTES:
        CLF_TRY(read_varint(m, &size));
        if (size > (uint64_t)(m->end - m->at))
            return cut_short(m);
        out->data = m->at;
        out->size = (size_t)size;
        m->at += size;
        return CLF_OK;
    default:
        CLF_FAIL(CLF_FORMAT, "%s: byte %zu: a field of kind %d", m->name, (size_t)(m->at - m->start), out->kind);
    }
}

static clf_status expect(const message *m, const field *f, int kind)
{
    if (f->kind != kind)
        CLF_FAIL(CLF_FORMAT, "%s: byte %zu: field %llu is of kind %d, expected %d", m->name, (size_t)(m->at - m->start),
                 (unsigned long long)f->number, f->kind, kind);
    return CLF_OK;
}

static message inside(const message *m, const field *f)
{
    return (message){f->data, f->data + f->size, m->start, m->name};
}

static clf_status read_piece(message m, clf_sentencepiece *out)
{
    enum { TEXT = 1, SCORE = 2, TYPE = 3 };
    clf_sentencepiece_piece piece = {.type = CLF_PIECE_NORMAL};
    if (out->count == CLFI_SENTENCEPIECE_MOST)
        CLF_FAIL(CLF_FORMAT, "%s: more than %d pieces", m.name, CLFI_SENTENCEPIECE_MOST);
    while (m.at < m.end) {
        field f;
        CLF_TRY(read_field(&m, &f));
        if (f.number == TEXT) {
            CLF_TRY(expect(&m, &f, BYTES));
            piece.text = f.data;
            piece.size = f.size;
        } else if (f.number == SCORE) {
            const uint32_t bits = (uint32_t)f.value;
            CLF_TRY(expect(&m, &f, FIXED_32));
            memcpy(&piece.score, &bits, sizeof bits);
        } else if (f.number == TYPE) {
            CLF_TRY(expect(&m, &f, VARINT));
            piece.type = f.value < 100 ? (int64_t)f.value : 100;
        }
    }
    if (piece.size == 0 || !isfinite(piece.score))
        CLF_FAIL(CLF_FORMAT, "%s: piece %zu has no text, or a score that is not finite", m.name, out->count);
    CLF_TRY(clfi_grow(&out->pieces, &out->capacity, out->count + 1, sizeof *out->pieces, "pieces"));
    out->pieces[out->count++] = piece;
    return CLF_OK;
}

static clf_status read_trainer(message m, clf_sentencepiece *out)
{
    enum { MODEL = 3, BYTE_FALLBACK = 35 };
    while (m.at < m.end) {
        field f;
        CLF_TRY(read_field(&m, &f));
        if (f.number == MODEL) {
            CLF_TRY(expect(&m, &f, VARINT));
            out->model = f.value < 100 ? (int64_t)f.value : 100;
        } else if (f.number == BYTE_FALLBACK) {
            CLF_TRY(expect(&m, &f, VARINT));
            out->has_byte_fallback = f.value != 0;
        }
    }
    return CLF_OK;
}

static clf_status read_normalizer(message m, clf_sentencepiece *out)
{
    enum { CHARSMAP = 2, PREFIX = 3, SPACES = 4, ESCAPE = 5 };
    while (m.at < m.end) {
        field f;
        CLF_TRY(read_field(&m, &f));
        if (f.number == CHARSMAP) {
            CLF_TRY(expect(&m, &f, BYTES));
            out->charsmap = f.data;
            out->charsmap_size = f.size;
        } else if (f.number >= PREFIX && f.number <= ESCAPE) {
            bool *const flags[] = {&out->adds_prefix, &out->drops_spaces, &out->escapes_spaces};
            CLF_TRY(expect(&m, &f, VARINT));
            *flags[f.number - PREFIX] = f.value != 0;
        }
    }
    return CLF_OK;
}

static clf_status read_model(message m, clf_sentencepiece *out)
{
    enum { PIECES = 1, TRAINER = 2, NORMALIZER = 3 };
    while (m.at < m.end) {
        field f;
        CLF_TRY(read_field(&m, &f));
        if (f.number < PIECES || f.number > NORMALIZER)
            continue;
        CLF_TRY(expect(&m, &f, BYTES));
        const message part = inside(&m, &f);
        CLF_TRY(f.number == PIECES ? read_piece(part, out) : f.number == TRAINER ? read_trainer(part, out) : read_normalizer(part, out));
    }
    if (out->count == 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected a model of SentencePiece, found no pieces", m.name);
    return CLF_OK;
}

clf_status clfi_sentencepiece_parse(const char *bytes, size_t size, const char *name, clf_sentencepiece *out)
{
    clf_sentencepiece made = {.model = CLFI_SENTENCEPIECE_UNIGRAM, .adds_prefix = true, .drops_spaces = true, .escapes_spaces = true};
    const clf_status st = read_model((message){bytes, bytes + size, bytes, name}, &made);
    if (st == CLF_OK)
        *out = made;
    else
        clfi_sentencepiece_free(&made);
    return st;
}

void clfi_sentencepiece_free(clf_sentencepiece *model)
{
    free(model->pieces);
    *model = (clf_sentencepiece){.pieces = NULL};
}
