/* SPDX-License-Identifier: MIT */
/* Context: one device, one in-order queue, the kernels built for it, and its temporary memory.
 *
 * Thread rule: a context and everything made from it belongs to one thread at a time. Different contexts are independent, and those that
 * share a cl_context (clf_context_create_shared) share it, their kernels and the weights of models safely. Ownership: create and destroy
 * come in pairs; destroy accepts NULL. A returned pointer is borrowed; what comes through an out-pointer is the caller's to destroy.
 * Out-pointers are set on success only. Tensors and models keep their context alive until they are destroyed. */
#ifndef CLFORMER_CONTEXT_H
#define CLFORMER_CONTEXT_H

#include "clformer/device.h"
#include "clformer/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clf_context clf_context;

/* Precision of float32 products, by PyTorch's names: those of matrices and the two of attention (attention.h). The list has the bound of
 * |error| of c = sum_k a_k b_k, k = 1..K, before c is rounded to its type. u = 2^-24, gamma_n = n u / (1 - n u) (Higham 2002, section 3.1),
 * S = sum_k |a_k b_k|.
 *   E = gamma_(K+2) S + (K+1) 2^-126
 *   HIGHEST  E, as sums of float32 multiply-adds have
 *   HIGH     E + 1.01 2^-15 S + 2^-125 sum_k (|a_k| + |b_k|); a result that needs an infinity may be NaN
 *   MEDIUM   E + 1.01 2^-7 S + 2^-25 sum_k (|a_k| + |b_k| + 1); a result that needs an infinity, or a number from 65520 on, may be NaN
 * A quantised weight b_k is a sum of terms (the zero and the minimum of its block are two of them), and |b_k| in S is the sum of their
 * sizes. At HIGH and MEDIUM |a_k| is then the largest of its 32, which begin at a multiple of 32. Products may be more precise than what is
 * asked for: clf_context_stats.product_precisions reports what they had. */
typedef enum clf_precision { CLF_PRECISION_HIGHEST, CLF_PRECISION_HIGH, CLF_PRECISION_MEDIUM } clf_precision;

/* "highest", "high" or "medium"; "?" for anything else. */
CLF_API const char *clf_precision_name(clf_precision precision);

typedef enum clf_log_level { CLF_LOG_ERROR, CLF_LOG_INFO, CLF_LOG_DEBUG } clf_log_level;

/* Receives log lines (no newline at the end). Called by the thread that uses the context. */
typedef void (*clf_log_function)(void *user, clf_log_level level, const char *text);

typedef struct clf_context_params {
    size_t size;               /* sizeof(clf_context_params) */
    const char *device;        /* selector (device.h); NULL: $CLF_DEVICE, else the default device */
    const char *engines;       /* forced engines, "gemm=tiled,layer_norm=group"; NULL: $CLF_ENGINE; a wrong name fails in the op.
                                  "gemm=packed:rows=6:vectors=2" also sets the tile that the engine's kernels are built with */
    const char *cache_dir;     /* compiled programs; NULL: $CLF_CACHE_DIR, else $XDG_CACHE_HOME/clformer; "" = no cache */
    const char *kernel_dir;    /* kernel files that replace the built-in ones; NULL: $CLF_KERNEL_DIR, else none */
    const char *tuned_file;    /* choices of engines that clformer tune measured on this device. If a GPU has none, loading a model adds
                                  some, at the sizes of its first layer, in less than a second. NULL: none if $CLF_NO_TUNED is set to
                                  something but 0, else $XDG_CONFIG_HOME/clformer/tuned.json; "" = none. A broken file is logged and
                                  ignored */
    clf_precision precision;   /* default CLF_PRECISION_HIGHEST */
    int profile;               /* nonzero: events of every kernel are kept for clf_context_stats and the trace */
    clf_log_function log;      /* NULL: lines up to $CLF_LOG (error, info, debug) go to standard error; unset = none */
    void *log_user;
    double launch_ms; /* milliseconds that a launch may take by its estimate. Longer ones are cut into pieces, and the queue is flushed
                         between them, so that a desktop on the same GPU can draw and the driver does not reset the GPU as stuck. 0:
                         $CLF_LAUNCH_MS (0 there: no bound), else 100 on GPUs that share the host's memory, 500 on others, no bound on
                         CPUs; below 0: no bound */
    int recovers;     /* nonzero: after a loss of the device, calls on sessions and pronouncers open it again, load the weights of their
                         models again, and repeat the void work. They fail if the device is lost again meanwhile. The caller's tensors,
                         searches and tokens of sequences on this context stay void. 0: calls end with CLF_DEVICE_LOST. A context does
                         not recover while others share its cl_context, or if it was made from another or from a caller's cl_context */
    int background;   /* above 0: other programs come first. launch_ms is halved, and each piece of a launch has ended before the
                         next enters the queue. The queue has a low priority where the driver has cl_khr_priority_hints, and a low clock
                         and power where it has cl_khr_throttle_hints. A caller's queue stays as it is. Threads of drivers for CPUs have
                         the priority of the thread that first calls OpenCL. 0: $CLF_BACKGROUND (1; unset or 0: no); below 0: no */
} clf_context_params;

#define CLF_CONTEXT_PARAMS_INIT {.size = sizeof(clf_context_params), .precision = CLF_PRECISION_HIGHEST}
CLF_API CLF_NODISCARD clf_status clf_context_params_default(clf_context_params *out, size_t size); /* clformer.h: options */

/* Opens a device. params NULL = defaults. The library's variables ($CLF_...) are read here and never again.
 * INVALID_ARGUMENT: a NULL out, an unknown precision, a launch_ms or a variable that is not understood. NOT_FOUND: no such device or
 * kernel_dir. UNSUPPORTED: the device cannot be used. DEVICE: the driver refused, or as clf_device_list_select. IO: as
 * clf_device_list_create. */
CLF_API CLF_NODISCARD clf_status clf_context_create(const clf_context_params *params, clf_context **out);

/* A second context on the device of `with`. It has a queue and temporary memory of its own. It shares the cl_context, the kernels, and the
 * settings of `with`, whose log function is then called by both threads. So two threads, each with one of them, use one copy of a
 * model's weights: clf_session_create. `with` may be in use by another thread meanwhile, and may be destroyed first. DEVICE: the driver
 * refused. */
CLF_API CLF_NODISCARD clf_status clf_context_create_shared(const clf_context *with, clf_context **out);
CLF_API void clf_context_destroy(clf_context *context);

/* Waits until everything enqueued has run. DEVICE: the wait failed. DEVICE_LOST: the driver reset the device, or the device is gone. Work
 * that was enqueued since the last wait is then void, and so are the buffers of this context and of those that share its cl_context. Calls
 * on sessions and pronouncers then do as clf_context_params.recovers describes. */
CLF_API CLF_NODISCARD clf_status clf_context_finish(clf_context *context);

/* Borrowed; lives as long as the context. */
CLF_API const clf_device_info *clf_context_device(const clf_context *context);

/* Counters of a context since it was made. Times are in nanoseconds. */
typedef struct clf_context_stats {
    uint64_t build_ns;             /* compiling kernels from source */
    uint64_t cache_load_ns;        /* creating programs from the disk cache */
    uint64_t programs_built;       /* from source */
    uint64_t programs_from_cache;  /* from the disk cache */
    uint64_t kernels_launched;
    uint64_t device_bytes;         /* allocated on the device now, host memory used in place excluded */
    uint64_t peak_device_bytes;
    uint64_t mapped_bytes;         /* host memory that the device uses in place now */
    uint64_t upload_ns, upload_bytes;
    uint64_t readback_ns, readback_bytes;
    uint64_t kernel_ns; /* sum over events; 0 unless profiling */
    uint64_t longest_estimate_ns; /* longest estimate of a launch, which decides whether it is cut; 0 where launches have no bound */
    uint64_t longest_launch_ns;   /* longest launch as measured; 0 unless profiling */
    unsigned product_precisions; /* bit 1 << p for each clf_precision p that products ran at: never less exact than what was asked for */
} clf_context_stats;

CLF_API void clf_context_get_stats(const clf_context *context, clf_context_stats *out);

/* Totals of one kernel; profiling contexts only. */
typedef struct clf_kernel_stats {
    const char *kernel; /* name; borrowed from the context */
    uint64_t launches;
    uint64_t total_ns;
} clf_kernel_stats;

/* Number of kernels profiled so far, and the index-th of them by falling total time. Both wait for the queue. INVALID_ARGUMENT: a NULL, an
 * index out of range. */
CLF_API size_t clf_context_kernel_count(clf_context *context);
CLF_API CLF_NODISCARD clf_status clf_context_kernel_get(clf_context *context, size_t index, clf_kernel_stats *out);

/* Writes everything profiled so far as a Chrome trace (JSON, chrome://tracing or Perfetto): kernels on one row, host phases on another.
 * INVALID_ARGUMENT: not a profiling context. NOT_FOUND: the folder does not exist. IO: the file cannot be written; an old file stays
 * whole. */
CLF_API CLF_NODISCARD clf_status clf_context_write_trace(clf_context *context, const char *path);

/* Version of the library, "major.minor.patch". */
CLF_API const char *clf_version(void);

/* Version of the library as a number: 10000 major + 100 minor + patch. CLF_VERSION_NUMBER is that of the headers. */
CLF_API int clf_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
