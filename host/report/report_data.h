/* SPDX-License-Identifier: MIT */
/* Gathers the contents of a report from its files and derives figures from them: devices, workloads grouped by op, and the rows of each. */
#ifndef CLFI_REPORT_REPORT_DATA_H
#define CLFI_REPORT_REPORT_DATA_H

#include "report/markup.h"
#include "report/result.h"

enum { CLFI_REPORT_COLOURS = 8, CLFI_LABEL_BYTES = 160 };

typedef struct clfi_report_device {
    const clfi_result *file;
    const clfi_result_device *device;
    size_t place;                 /* index in file->devices */
    char label[CLFI_LABEL_BYTES]; /* short, different for each */
    json_t *noisy_limits;         /* limit -> whether the row that measured it is noisy; NULL: no row measured a limit */
} clfi_report_device;

typedef struct clfi_report_row {
    size_t work, device; /* indices in clfi_report_data.works and clfi_report_data.devices */
    const clfi_result_row *row;
    bool is_best; /* the fastest verified engine of its workload on its device */
} clfi_report_row;

typedef struct clfi_report_work {
    const clfi_result_workload *workload;
    size_t op;
    size_t first, count; /* its rows, sorted by device; measured ones come first, from the fastest */
    size_t number;       /* its number on rooflines, from 1; 0: it has no arithmetic intensity */
    double slowest_ms;   /* the largest median of its best rows; NaN: none */
    bool is_common;      /* all devices verified it, except devices that were not measured at all */
} clfi_report_work;

typedef struct clfi_report_op {
    const char *name, *suite;
    size_t first, count; /* its workloads */
    double slowest_log;  /* the largest clfi_report_log_time of a device; NaN: none */
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

/* Fills *out, which the caller frees with clfi_report_data_free also after a failure. The files are borrowed until then.
 * INVALID_ARGUMENT: no file, or different work; OUT_OF_MEMORY. */
clf_status clfi_report_gather(const clfi_result *files, size_t count, clfi_report_data *out);
void clfi_report_data_free(clfi_report_data *data);

/* The part of clfi_report_gather that labels the devices: with the platform's name for a CPU, else with the device's own name. While
 * another device has the same label, it gets additions that differ: the other of the two names, the file's name, its path, the device's id,
 * its number in the report. OUT_OF_MEMORY. */
clf_status clfi_report_name_devices(clfi_report_data *data);

/* The row of a workload's fastest verified engine on a device; NULL: none was measured. */
const clfi_report_row *clfi_report_best(const clfi_report_data *data, const clfi_report_work *work, size_t device);

static inline bool clfi_report_is_measured(const clfi_result_row *row)
{
    return row->status == CLFI_RESULT_OK && row->wall_ms.count > 0;
}

/* Says why a row has no figures. A verified row without samples was interrupted. */
static inline const char *clfi_report_outcome(const clfi_result_row *row)
{
    return row->status == CLFI_RESULT_FAILED ? "FAILED" : row->status == CLFI_RESULT_UNSUPPORTED ? "unsupported" : "interrupted";
}

/* clfi_report_gflops: 10^9 operations per second at the median; clfi_report_intensity: operations per byte. */
double clfi_report_gflops(const clfi_report_work *work, const clfi_result_row *row);
double clfi_report_intensity(const clfi_report_work *work);

/* The higher of the bandwidths of reading and copying memory, in GB/s, and its name ("read" or "copy"); NaN: neither was measured. */
double clfi_report_bandwidth(const clfi_result_device *device, const char **name);

/* The bandwidth, in GB/s, that a row is compared with. It is that of the measured copy whose size is nearest to the bytes of one call of a
 * chain ("chain" in `work`) or of one step ("steps"), and at least the memory's. If the row was faster, it is that of the slowest copy that
 * the row did not exceed, if any. */
double clfi_report_point_bandwidth(const clfi_result_device *device, const clfi_report_work *work, const clfi_result_row *row);

/* The arithmetic limit that a workload is compared with, in GFLOP/s. It is the workload's own limit if that was measured, for example the
 * matrix unit's peak for products at lower precisions; else float32's. NaN: neither was measured. */
double clfi_report_arithmetic(const clfi_result_device *device, const clfi_report_work *work);

/* Attainable rate of a row in GFLOP/s: the smaller of the arithmetic limit and bandwidth times intensity (the two functions above);
 * NaN: a limit was not measured. */
double clfi_report_roof(const clfi_result_device *device, const clfi_report_work *work, const clfi_result_row *row);

/* Write and return a text. clfi_report_share: the share of the limit, "87 %"; "~87 %" if the limit's row was noisy; a dash if there is no
 * limit. clfi_report_rate: the rate or time of a measured row with its unit. */
const char *clfi_report_share(const clfi_report_data *data, const clfi_report_row *row, char text[CLFI_FIGURE_BYTES]);
const char *clfi_report_rate(const clfi_result_row *row, char text[2 * CLFI_FIGURE_BYTES]);

/* Writes a limit of a device in words: "copy of 32 KiB 835 GB/s". */
void clfi_report_limit_text(const char *key, double value, char text[CLFI_LABEL_BYTES]);

/* Whether a workload on the roofline exceeds its arithmetic limit of the same run by more than 5 %. */
bool clfi_report_beats_limit(const clfi_report_data *data, size_t device);

/* True where the rate is a time ("us"), so that less is better. */
bool clfi_report_is_time(const clfi_result_row *row);

/* Mean of the logarithms of a device's best times, over the op's common workloads. *count: their number. NaN: none. */
double clfi_report_log_time(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count);

/* How many times faster than the slowest device this one is: the quotient of geometric means over common workloads. *count: their number.
 * NaN: none. */
double clfi_report_speed(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count);

#endif
