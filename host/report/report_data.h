/* SPDX-License-Identifier: MIT */
/* The contents of a report, gathered from its files: devices, workloads grouped by op, and the rows of each. */
#ifndef CLFI_REPORT_REPORT_DATA_H
#define CLFI_REPORT_REPORT_DATA_H

#include "report/markup.h"
#include "report/result.h"

enum { CLFI_REPORT_COLOURS = 8, CLFI_LABEL_BYTES = 160 };

typedef struct clfi_report_device {
    const clfi_result *file;
    const clfi_result_device *device;
    size_t place;                 /* in its file */
    char label[CLFI_LABEL_BYTES]; /* short, different for each */
} clfi_report_device;

typedef struct clfi_report_row {
    size_t work, device; /* places below */
    const clfi_result_row *row;
    bool is_best; /* the fastest verified engine of its workload on its device */
} clfi_report_row;

typedef struct clfi_report_work {
    const clfi_result_workload *workload;
    size_t op;
    size_t first, count; /* its rows; by device, then verified ones from the fastest */
    size_t number;       /* on rooflines, from 1; 0: it has no arithmetic intensity */
    double slowest_ms;   /* of the best rows; NaN: none */
} clfi_report_work;

typedef struct clfi_report_op {
    const char *name, *suite;
    size_t first, count; /* its workloads */
} clfi_report_op;

typedef struct clfi_report_data {
    const clfi_result *files;
    size_t file_count;
    clfi_report_device *devices;
    clfi_report_op *ops;
    clfi_report_work *works;
    clfi_report_row *rows;
    size_t device_count, op_count, work_count, row_count;
    size_t verified, failed, unsupported, noisy; /* rows */
} clfi_report_data;

/* INVALID_ARGUMENT: no file, or different work. The files are borrowed. Free also after a failure. */
clf_status clfi_report_gather(const clfi_result *files, size_t count, clfi_report_data *out);
void clfi_report_data_free(clfi_report_data *data);

/* The part of clfi_report_gather that labels the devices: the platform's name for a CPU, else the device's own. A label that another device
 * has too gets more of both names, the file, its path, the device's number in the file, or its place in the report. OUT_OF_MEMORY. */
clf_status clfi_report_name_devices(clfi_report_data *data);

/* The best row of a workload on a device; NULL: none was verified. */
const clfi_report_row *clfi_report_best(const clfi_report_data *data, const clfi_report_work *work, size_t device);

static inline bool clfi_report_is_measured(const clfi_result_row *row)
{
    return row->status == CLFI_RESULT_OK && row->wall_ms.count > 0;
}

/* 10^9 operations per second at the median; and operations per byte. */
double clfi_report_gflops(const clfi_report_work *work, const clfi_result_row *row);
double clfi_report_intensity(const clfi_report_work *work);

/* The highest bandwidth that was measured from memory, in GB/s, and its name ("read", "copy"); NaN: none. */
double clfi_report_bandwidth(const clfi_result_device *device, const char **name);

/* The bandwidth, in GB/s, that a row is held against. It is that of the measured copy whose size is nearest to what one call ("chain") or
 * step ("steps") reads and writes. Where the row was faster, it is that of a faster cache. It is never less than the memory's. */
double clfi_report_point_bandwidth(const clfi_result_device *device, const clfi_report_work *work, const clfi_result_row *row);

/* The arithmetic limit that a workload is held against, in GFLOP/s: its own (of products at lower precisions the matrix unit's peak) where
 * that was measured, else float32's; NaN: neither was. */
double clfi_report_arithmetic(const clfi_result_device *device, const clfi_report_work *work);

/* Attainable rate of a row: min(that limit, that bandwidth times intensity), in GFLOP/s; NaN: limits not measured. */
double clfi_report_roof(const clfi_result_device *device, const clfi_report_work *work, const clfi_result_row *row);

/* Texts, returned: share of the limit ("87 %", "~87 %" where the limit was noisy, a dash without one), and the rate or time with its
 * unit. */
const char *clfi_report_share(const clfi_report_data *data, const clfi_report_row *row, char text[CLFI_FIGURE_BYTES]);
const char *clfi_report_rate(const clfi_result_row *row, char text[2 * CLFI_FIGURE_BYTES]);

/* A limit of a device in words: "copy of 32 KiB 835 GB/s". */
void clfi_report_limit_text(const char *key, double value, char text[CLFI_LABEL_BYTES]);

/* A workload ran faster, by more than 5 %, than its arithmetic limit of the same run. */
bool clfi_report_beats_limit(const clfi_report_data *data, size_t device);

/* True where the rate is a time ("us"), so that less is better. */
bool clfi_report_is_time(const clfi_result_row *row);

/* Quotient of geometric means over the op's workloads that every device of the report verified: how many times faster than the slowest
 * device; NaN: no common workload. *count: how many workloads. */
double clfi_report_speed(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count);

#endif
