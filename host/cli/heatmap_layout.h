/* SPDX-License-Identifier: MIT */
/* Computes sizes and positions of the parts of a heat map picture, for heatmap.c. */
#ifndef CLFI_CLI_HEATMAP_LAYOUT_H
#define CLFI_CLI_HEATMAP_LAYOUT_H

#include "cli/heatmap.h"
#include "cli/heatmap_text.h"

/* Sizes in picture units: points of an SVG; one pixel of a large PNG, two of one up to SHARP_SIDE. */
enum {
    MARGIN = 12,
    GAP = 14,           /* between panels, beside their texts */
    TITLE_SIZE = 15,
    NAME_SIZE = 12,     /* panel names, axis names, ticks of the colour bar */
    LINE = 20,          /* height of a line of either size */
    LABEL_LIMIT = 110,  /* widest label */
    NAME_LIMIT = 150,   /* widest name of a panel that its neighbours make room for */
    LABEL_PITCH = 11,   /* least distance of labels */
    TICK = 4,
    BAR_WIDTH = 14,
    BAR_HEIGHT = 220,   /* largest height */
    SMALLEST_WIDTH = 260,
    TITLE_LIMIT = 640,  /* widest title that a picture is made wider for */
    LARGEST_SIDE = 16000,
    SHARP_SIDE = 2400   /* PNGs up to this width and height are drawn with twice the pixels */
};

#define PLUS_MINUS "\xc2\xb1"

typedef struct cli_heatmap_layout {
    size_t grid_rows, grid_columns;
    double cell;                        /* side of a matrix element */
    double panel_width, panel_height;   /* matrix alone */
    double left, top;                   /* of the first matrix */
    double step_x, step_y;              /* from one matrix to the next */
    double label_size, row_width;       /* font size of labels; width of the widest row label */
    double column_height;               /* height of the column labels, turned or not */
    bool turned;                        /* column labels read upwards */
    size_t row_skip, column_skip;       /* each n-th row and column is labelled */
    double bar_x, width, height;
} cli_heatmap_layout;

/* Measures the labels with the pen. UNSUPPORTED: the picture would be too large. */
clf_status cli_heatmap_arrange(cli_pen *pen, const cli_heatmap *map, cli_heatmap_layout *out);

#endif
