/* SPDX-License-Identifier: MIT */
/* Draws matrices of attention weights as PNG or SVG. A picture is a grid of heat maps with titles, labels and one colour bar for all, after
 * the heat maps of Dive into Deep Learning (11.1). */
#ifndef CLFI_CLI_HEATMAP_H
#define CLFI_CLI_HEATMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/file.h"
#include "console/output_format.h"

/* How values become colours. */
typedef enum cli_heatmap_scale {
    CLI_SCALE_SQRT,  /* square root of value / maximum of all matrices: small values stay visible beside large ones */
    CLI_SCALE_HEAD,  /* value / largest magnitude of its own matrix, which the picture shows after the matrix's name */
    CLI_SCALE_SHARED /* value / maximum of all matrices */
} cli_heatmap_scale;

typedef enum cli_heatmap_format { CLI_HEATMAP_PNG, CLI_HEATMAP_SVG } cli_heatmap_format;
#define CLI_HEATMAP_FORMATS "png|svg"

typedef struct cli_heatmap {
    const char *title;     /* of the whole picture; NULL: none */
    const char *subtitle;  /* a line below it in small letters; NULL: none */
    cli_heatmap_scale scale;
    const char *row_axis;  /* what the rows are, "queries" */
    const char *column_axis;
    size_t count;          /* matrices */
    const char *const *names; /* [count] above each; NULL: none */
    size_t rows, columns;
    const char *const *row_labels;    /* [rows], UTF-8 */
    const char *const *column_labels; /* [columns] */
    const float *values;              /* [count, rows, columns], finite; colours run from white at 0 to red at a round number that no
                                       * magnitude exceeds (CLI_SCALE_HEAD: at the largest magnitude). Negative values run to blue on the
                                       * same scale; the colour bar shows blue only if there are negative values */
} cli_heatmap;

/* Chooses the format of a picture, as cli_format_choose does. */
clf_status cli_heatmap_choose_format(const char *path, int *format);

/* Draws for `path`, a file, pipe, device or "-". *out has all bytes and waits for clfi_atomic_commit; until then an old file stays. Labels
 * that are too long are shortened; if labels are too close together, some are left out. A PNG shows characters that no font has by their
 * number (U+4F60), and standard error names the package of such a font. Texts of an SVG are text elements. INVALID_ARGUMENT: nothing to
 * draw. UNSUPPORTED: too large for a picture. NOT_FOUND, IO: `path` cannot be written. */
clf_status cli_heatmap_stage(const cli_heatmap *map, cli_heatmap_format format, const char *path, clf_atomic_file *out);

#endif
