/* SPDX-License-Identifier: MIT */
/* Collects the texts of a corpus and their embeddings. */
#include "jobs/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

static const char fields_name[] = "fields of a text";

clf_status cli_corpus_add(cli_corpus *c, const cli_met_text *met)
{
    cli_collection *own = &c->rows;
    CLF_TRY(clfi_grow(&own->ends, &own->end_capacity, c->texts + 1, sizeof *own->ends, "texts"));
    CLF_TRY(clfi_grow(&c->places, &c->place_capacity, c->texts + 1, sizeof *c->places, "texts"));
    CLF_TRY(clfi_grow(&c->field_ends, &c->field_capacity, c->texts + 1, sizeof *c->field_ends, "texts"));
    CLF_TRY(clfi_str_append(&own->bytes, met->text.data, met->text.size));
    if (met->object.data)
        CLF_TRY(clfi_json_append_without(met->object.data, met->object.size, "text", fields_name, &c->fields));
    own->ends[c->texts] = own->bytes.length;
    c->places[c->texts] = met->place;
    c->field_ends[c->texts++] = c->fields.length;
    return CLF_OK;
}

clf_status cli_corpus_meet(void *corpus, const cli_met_text *met, bool *out_taken)
{
    *out_taken = true;
    return cli_corpus_add(corpus, met);
}

clf_status cli_corpus_collect(void *corpus, const cli_embedded *window)
{
    cli_collection *own = &((cli_corpus *)corpus)->rows;
    const size_t all = own->count + window->count;
    CLF_TRY(clfi_grow(&own->rows, &own->capacity, all * window->width, sizeof *own->rows, "embeddings"));
    memcpy(own->rows + own->count * window->width, window->rows, window->count * window->width * sizeof *own->rows);
    own->count = all;
    own->width = window->width;
    return CLF_OK;
}

clf_text cli_corpus_fields(const cli_corpus *c, size_t i)
{
    const size_t start = i && i < c->texts ? c->field_ends[i - 1] : 0, end = i < c->texts ? c->field_ends[i] : 0;
    return (clf_text){end > start ? c->fields.data + start : NULL, end - start};
}

clf_status cli_corpus_parse_fields(const cli_corpus *c, size_t i, json_t **out)
{
    const clf_text fields = cli_corpus_fields(c, i);
    *out = NULL;
    return fields.data ? clfi_json_parse(fields.data, fields.size, fields_name, out) : CLF_OK;
}

void cli_corpus_free(cli_corpus *c)
{
    cli_collection_free(&c->rows);
    free(c->places);
    free(c->field_ends);
    clfi_str_free(&c->fields);
    *c = (cli_corpus){.texts = 0};
}
