/* SPDX-License-Identifier: MIT */
/* Checks the headers of requests. */
#include "serve/headers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Length of the name at the beginning of the text. */
static size_t name_length(const char *text)
{
    return strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static bool is_name(const char *name)
{
    const size_t length = name_length(name);
    return length > 0 && name[length] == '\0';
}

bool srv_is_name_list(const char *text)
{
    size_t length;
    for (; text && (length = name_length(text)) > 0; text += strspn(text, ", ")) {
        text += length;
        if (*text == '\0')
            return true;
        if (*text != ',')
            return false;
    }
    return false;
}

/* Whether the value has no control character but tabs. Servers and proxies read a line end within a value in different ways. */
static bool is_value(const char *value)
{
    for (const char *at = value; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
            return false;
    return true;
}

static void take_length(srv_headers *headers, const char *value)
{
    const size_t digits = strspn(value, "0123456789");
    headers->lengths++;
    headers->is_bad_length |= digits == 0 || value[digits] != '\0' || digits > 18;
    headers->length = strtoull(value, NULL, 10);
}

/* Whether the value begins with the word, and nothing or a parameter follows. */
static bool has_word(const char *value, const char *word)
{
    const size_t length = strlen(word);
    if (strncasecmp(value, word, length) != 0)
        return false;
    const char *rest = value + length + strspn(value + length, " \t");
    return *rest == '\0' || *rest == ';';
}

static void take_known(srv_headers *headers, const char *name, const char *value)
{
    if (strcasecmp(name, "host") == 0) {
        headers->hosts++;
        headers->host = value;
    } else if (strcasecmp(name, "content-length") == 0) {
        take_length(headers, value);
    } else if (strcasecmp(name, "transfer-encoding") == 0) {
        headers->codings++;
        headers->is_chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(name, "content-encoding") == 0) {
        headers->is_coded |= strcasecmp(value, "identity") != 0;
    } else if (strcasecmp(name, "content-type") == 0) {
        headers->has_type = true;
        headers->is_json = has_word(value, "application/json");
    } else if (strcasecmp(name, "expect") == 0) {
        headers->expects = strcasecmp(value, "100-continue") == 0;
        headers->expects_other |= !headers->expects;
    } else if (strcasecmp(name, "origin") == 0) {
        headers->origin = value;
    } else if (strcasecmp(name, "authorization") == 0) {
        headers->authorization = value;
    }
}

void srv_headers_take(srv_headers *headers, const char *name, const char *value)
{
    value = value ? value : "";
    headers->bytes += strlen(name) + strlen(value) + 4;
    headers->is_bad_name |= !is_name(name);
    headers->is_bad_value |= !is_value(value);
    take_known(headers, name, value);
}

bool srv_headers_check(const srv_headers *headers, bool is_modern, srv_error *error)
{
    if (headers->bytes > SRV_HEADER_BYTES)
        return srv_refuse(error, SRV_FAULT_HEADERS, NULL, "the headers have %zu bytes: expected at most %d", headers->bytes,
                          SRV_HEADER_BYTES);
    if (headers->is_bad_name)
        return srv_refuse(error, SRV_FAULT_MESSAGE, NULL, "a header's name is empty or has a forbidden character");
    if (headers->is_bad_value)
        return srv_refuse(error, SRV_FAULT_MESSAGE, NULL, "a header's value has a control character");
    if (headers->hosts > 1 || (is_modern && headers->hosts == 0))
        return srv_refuse(error, SRV_FAULT_MESSAGE, NULL, "expected one Host header, found %zu", headers->hosts);
    if (headers->lengths > 0 && headers->codings > 0)
        return srv_refuse(error, SRV_FAULT_MESSAGE, NULL, "expected Content-Length or Transfer-Encoding, found both");
    if (headers->lengths > 1 || headers->is_bad_length)
        return srv_refuse(error, SRV_FAULT_MESSAGE, NULL, "Content-Length: expected a single plain number");
    if (headers->codings > 1 || (headers->codings == 1 && !headers->is_chunked))
        return srv_refuse(error, SRV_FAULT_NOT_BUILT, NULL, "Transfer-Encoding: expected \"chunked\" alone");
    if (headers->codings && !is_modern)
        return srv_refuse(error, SRV_FAULT_MESSAGE, NULL, "Transfer-Encoding: expected none in HTTP/1.0");
    if (headers->expects_other)
        return srv_refuse(error, SRV_FAULT_EXPECTATION, NULL, "Expect: expected \"100-continue\"");
    return true;
}

bool srv_headers_check_type(const srv_headers *headers, srv_error *error)
{
    if (headers->is_coded)
        return srv_refuse(error, SRV_FAULT_MEDIA, NULL, "Content-Encoding: not supported: expected a body that is not compressed");
    if (headers->has_type && !headers->is_json)
        return srv_refuse(error, SRV_FAULT_MEDIA, NULL, "Content-Type: expected application/json");
    return true;
}

bool srv_headers_have_key(const srv_headers *headers, const char *key)
{
    static const char scheme[] = "bearer ";
    const char *given = headers->authorization;
    if (!given || strncasecmp(given, scheme, sizeof scheme - 1) != 0)
        return false;
    given += sizeof scheme - 1;
    given += strspn(given, " ");
    const size_t length = strlen(given), expected = strlen(key);
    unsigned different = length != expected;
    for (size_t i = 0; i < length; i++) /* the time does not depend on the server's key */
        different |= (unsigned)(unsigned char)given[i] ^ (unsigned)(unsigned char)key[expected ? i % expected : 0];
    return different == 0;
}

bool srv_origin_is_valid(const char *origin)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-._:[]";
    const char *host = strstr(origin, "://");
    if (!host)
        return strcmp(origin, "null") == 0;
    const size_t scheme = strspn(origin, "abcdefghijklmnopqrstuvwxyz0123456789+-."), length = strspn(host + 3, letters);
    return host > origin && scheme == (size_t)(host - origin) && length > 0 && host[3 + length] == '\0';
}

/* Whether "name:port" is localhost, or an address, so that no DNS server chose its meaning. */
static bool is_fixed(const char *host)
{
    char name[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    const bool is_bracketed = *host == '[';
    const size_t length = strcspn(host + is_bracketed, is_bracketed ? "]" : ":");
    if (length >= sizeof name)
        return false;
    memcpy(name, host + is_bracketed, length);
    name[length] = '\0';
    return is_bracketed ? inet_pton(AF_INET6, name, address) == 1
                        : strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, address) == 1;
}

bool srv_headers_are_foreign(const srv_headers *headers, const char *allowed, bool is_local)
{
    const char *origin = headers->origin;
    if (!origin || (allowed && (strcmp(allowed, "*") == 0 || strcmp(allowed, origin) == 0)))
        return false;
    const char *host = strstr(origin, "://");
    if (!host || !headers->host || strcasecmp(host + 3, headers->host) != 0)
        return true;
    return is_local && strncasecmp(origin, "https:", 6) != 0 && !is_fixed(host + 3);
}
