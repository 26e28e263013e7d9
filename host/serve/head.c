/* SPDX-License-Identifier: MIT */
/* Reads heads, and finds the bytes in them that libmicrohttpd 0.9.75 ignores. For this version a NUL ends a value, and a line that begins
 * with a NUL or a colon ends the head. A line that begins with a space is appended to the name of the header before it. The texts lie in
 * the library's buffer as they came, with NULs in place of spaces, colons and line ends. So ignored bytes show as gaps between them. */
#include "serve/head.h"

#include <string.h>

/* at: end of the text that was read last. has_gap: other bytes than separators follow an earlier text. */
typedef struct head_reader {
    srv_headers headers;
    const char *at;
    bool has_gap;
} head_reader;

/* An MHD_KeyValueIterator. */
static enum MHD_Result take_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    head_reader *reader = user;
    const char *const at = reader->at, *const behind = name + strlen(name) + 1;
    (void)kind;
    value = value ? value : "";
    if (name != at + 1 && (name != at + 2 || at[1] != '\0')) /* the line before ends with LF or CR LF */
        reader->has_gap = true;
    if (!reader->has_gap && value != behind + strspn(behind, " \t"))
        reader->has_gap = true;
    reader->at = value + strlen(value);
    srv_headers_take(&reader->headers, name, value);
    return MHD_YES;
}

/* Whether the two line ends behind the last text, each of one or two bytes, are all that is left of the head. */
static bool ends_at(const char *at, const char *end)
{
    static const char zeros[4];
    return end - at >= 2 && end - at <= (ptrdiff_t)sizeof zeros && memcmp(at, zeros, (size_t)(end - at)) == 0;
}

bool srv_head_read(struct MHD_Connection *connection, const char *method, const char *target, size_t target_size, const char *version,
                   srv_headers *out)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    head_reader reader = {.at = version + strlen(version)};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &reader);
    *out = reader.headers;
    if (MHD_VERSION >= 0x01000000) /* refuses such heads by itself */
        return true;
    return target == method + strlen(method) + 1 && version == target + target_size + 1 && !reader.has_gap && info &&
           ends_at(reader.at, method + info->header_size);
}

bool srv_head_has_bad_length(struct MHD_Connection *connection)
{
    head_reader reader = {.at = ""};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &reader);
    return reader.headers.is_bad_length || (reader.headers.lengths > 0 && reader.headers.codings > 0);
}
