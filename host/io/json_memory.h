/* SPDX-License-Identifier: MIT */
/* Memory of JSON values. jansson ignores some allocations that fail: a copied list then lacks elements, and a written object lacks a key.
 * Its allocator here remembers each failure for the calling thread, and can limit the memory of the thread's values. */
#ifndef CLFI_IO_JSON_MEMORY_H
#define CLFI_IO_JSON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* failed: whether an allocation of the calling thread's JSON values has failed since the last call; the failure is then forgotten. A caller
 * that finds a failure of earlier work puts it back, so that the writer refuses a value that may be incomplete. */
bool clfi_json_memory_failed(void);
void clfi_json_memory_put_back(bool failed);

/* Bytes that the calling thread's values occupy. */
typedef struct clf_json_account {
    int64_t alive; /* allocated minus freed since the beginning, as malloc_usable_size counts */
    int64_t limit;
    bool is_over; /* an allocation was refused because of the limit */
} clf_json_account;

/* Between begin and end, allocations of the calling thread's JSON values are counted, and those beyond the limit fail. The account is the
 * caller's; a thread has one at a time. If jansson was given another allocator than malloc before, nothing is counted. */
void clfi_json_account_begin(clf_json_account *account, int64_t limit);
void clfi_json_account_end(void);

#endif
