/* SPDX-License-Identifier: MIT */
/* Writes to the terminal and measures texts in columns, by utf8proc's tables. */
#include "console/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include "base/str.h"
#include "base/utf8.h"

enum { REPLACEMENT = 0xfffd, ELLIPSIS = 0x2026, USUAL_COLUMNS = 80, LEAST_COLUMNS = 20, NARROW_INDENT = 8, LEAST_INDENT = 2 };

int cli_terminal_columns(int fd)
{
    struct winsize size;
    if (!isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

static uint32_t shown(uint32_t code)
{
    return code == CLFI_UTF8_INVALID ? (uint32_t)REPLACEMENT : clfi_utf8_is_printable(code) ? code : ' ';
}

static void put(FILE *stream, uint32_t code)
{
    unsigned char bytes[4];
    fwrite(bytes, 1, clfi_utf8_encode(code, bytes), stream);
}

/* Columns of the whole text. */
static int width_of(const unsigned char *text, size_t size)
{
    int columns = 0;
    uint32_t code;
    for (size_t i = 0; i < size && columns < 1 << 20;) {
        i += clfi_utf8_decode(text + i, size - i, &code);
        columns += utf8proc_charwidth((utf8proc_int32_t)shown(code));
    }
    return columns;
}

int cli_print_line(FILE *stream, const char *text, size_t size, int columns)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const bool is_cut = columns > 0 && width_of(bytes, size) > columns;
    int used = 0;
    uint32_t code;
    for (size_t i = 0; i < size;) {
        i += clfi_utf8_decode(bytes + i, size - i, &code);
        const int more = utf8proc_charwidth((utf8proc_int32_t)shown(code));
        if (is_cut && used + more > columns - 1)
            break;
        put(stream, shown(code));
        used += more;
    }
    if (is_cut)
        put(stream, ELLIPSIS);
    return used + is_cut;
}

static int columns_of(FILE *stream)
{
    return cli_terminal_columns(stream == stderr ? STDERR_FILENO : STDOUT_FILENO);
}

static int line_width(FILE *stream)
{
    const int columns = columns_of(stream);
    return columns ? columns : USUAL_COLUMNS;
}

/* Bytes up to the next space. keeps_quotes: a space between quotation marks does not end the word. */
static int word_size(const char *text, bool keeps_quotes)
{
    size_t size = strcspn(text, keeps_quotes ? " \"" : " ");
    while (text[size] == '"') {
        size += 1 + strcspn(text + size + 1, "\"");
        size += text[size] == '"';
        size += strcspn(text + size, " \"");
    }
    return (int)size;
}

/* Prints the words of a text on a line with `used` columns in use; new lines begin with `indent` spaces. broken: ends each line that
 * another one continues. If it is not empty, the text is a command, whose quotations stay whole. */
static void print_words(FILE *stream, int indent, int used, const char *text, const char *broken)
{
    const int width = line_width(stream) - (int)strlen(broken);
    bool is_first = true; /* in its line */
    for (const char *at = text; *at; is_first = false) {
        const int word = word_size(at, *broken != '\0');
        if (!is_first && used + 1 + word >= width) {
            used = fprintf(stream, "%s\n%*s", broken, indent, "") - 1 - (int)strlen(broken);
            is_first = true;
        }
        used += fprintf(stream, "%s%.*s", is_first ? "" : " ", word, at);
        at += word + (at[word] == ' ');
    }
    putc('\n', stream);
}

void cli_print_text(FILE *stream, int first, int indent, const char *text)
{
    fprintf(stream, "%*s", first, "");
    print_words(stream, indent, first, text, "");
}

void cli_print_command(FILE *stream, const char *text)
{
    enum { FIRST = 2, INDENT = 4 };
    fprintf(stream, "%*s", FIRST, "");
    if (columns_of(stream) > 0)
        print_words(stream, INDENT, FIRST, text, " \\");
    else
        fprintf(stream, "%s\n", text);
}

void cli_print_entry(FILE *stream, const char *name, int columns, const char *text)
{
    const int width = line_width(stream);
    const bool is_narrow = width - columns - 3 < LEAST_COLUMNS; /* then every text stands below its name */
    const int indent = !is_narrow ? columns + 3 : width - NARROW_INDENT < LEAST_COLUMNS ? LEAST_INDENT + 2 : NARROW_INDENT;
    if ((int)strlen(name) + LEAST_INDENT >= width) {
        cli_print_text(stream, LEAST_INDENT, indent, name + strspn(name, " "));
        cli_print_text(stream, indent, indent, text);
        return;
    }
    const int size = fprintf(stream, "  %s", name); /* two spaces at least before the text */
    const int used = size < indent ? size + fprintf(stream, "%*s", indent - size, "") : fprintf(stream, "\n%*s", indent, "") - 1;
    print_words(stream, indent, used, text, "");
}
