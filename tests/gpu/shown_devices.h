/* SPDX-License-Identifier: MIT */
/* GPUs that the shim can show, as their vendors' drivers describe them: one row each. The last is no vendor's: it has the smallest
 * work-groups that are accepted. Of their extensions those are left out that choose code which PoCL cannot compile (fp16, integer dot
 * products, CLBlast's for cl_intel_subgroups). */
#ifndef CLF_TEST_GPU_SHOWN_DEVICES_H
#define CLF_TEST_GPU_SHOWN_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#define SHOWN_KIB(n) ((uint64_t)(n) << 10)
#define SHOWN_MIB(n) ((uint64_t)(n) << 20)

typedef struct shown_device {
    const char *key; /* in CLF_TEST_GPU */
    const char *name, *vendor;
    const char *board; /* CL_DEVICE_BOARD_NAME_AMD; NULL: the driver has no such question */
    uint32_t vendor_id;
    uint32_t compute_capability[2]; /* NVIDIA's; zeros: the driver has no such question */
    uint32_t compute_units, clock_mhz;
    uint64_t global_bytes, largest_bytes, local_bytes; /* largest_bytes: of one allocation */
    uint32_t group_size;                               /* largest work-group */
    uint32_t wave;                                     /* warp, wavefront or sub-group: what work-groups should be multiples of */
    uint32_t vector_width;                             /* of float, native and preferred */
    uint32_t alignment_bits;
    bool unified;
    uint32_t unit_lanes;     /* multiply-adds of a compute unit in a clock; 0: launches are not timed */
    uint32_t gib_per_second; /* of its memory */
    const char *extensions;
} shown_device;

#define SHOWN_BASE                                                                                         \
    "cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics " \
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_icd"
#define SHOWN_NVIDIA SHOWN_BASE " cl_khr_fp64 cl_nv_compiler_options cl_nv_device_attribute_query cl_nv_pragma_unroll"
#define SHOWN_AMD SHOWN_BASE " cl_khr_fp64 cl_khr_subgroups cl_amd_device_attribute_query cl_amd_media_ops"
#define SHOWN_INTEL SHOWN_BASE " cl_khr_subgroups cl_intel_required_subgroup_size cl_khr_priority_hints cl_khr_throttle_hints"

/* Common values of NVIDIA's GPUs. */
#define SHOWN_NVIDIA_GPU                                                                                                                  \
    .vendor = "NVIDIA Corporation", .vendor_id = 0x10de, .local_bytes = SHOWN_KIB(48), .group_size = 1024, .wave = 32, .vector_width = 1, \
    .alignment_bits = 4096, .extensions = SHOWN_NVIDIA

static const shown_device shown_devices[] = {
    {.key = "nvidia_turing",
     .name = "NVIDIA GeForce RTX 2080 Ti",
     .compute_capability = {7, 5},
     .compute_units = 68,
     .clock_mhz = 1545,
     .global_bytes = SHOWN_MIB(11019),
     .largest_bytes = SHOWN_MIB(11019) / 4,
     SHOWN_NVIDIA_GPU},
    {.key = "nvidia_hopper",
     .name = "NVIDIA H100 80GB HBM3",
     .compute_capability = {9, 0},
     .compute_units = 132,
     .clock_mhz = 1980,
     .global_bytes = SHOWN_MIB(81089),
     .largest_bytes = SHOWN_MIB(81089) / 4,
     SHOWN_NVIDIA_GPU},
    {.key = "nvidia_one_unit", /* so that PoCL runs all work-groups of a launch graph at once */
     .name = "NVIDIA GPU of one unit",
     .compute_capability = {7, 5},
     .compute_units = 1,
     .clock_mhz = 1500,
     .global_bytes = SHOWN_MIB(4096),
     .largest_bytes = SHOWN_MIB(1024),
     SHOWN_NVIDIA_GPU},
    {.key = "amd_rdna2",
     .name = "gfx1030",
     .vendor = "Advanced Micro Devices, Inc.",
     .board = "AMD Radeon RX 6800 XT",
     .vendor_id = 0x1002,
     .compute_units = 36,
     .clock_mhz = 2250,
     .global_bytes = SHOWN_MIB(16368),
     .largest_bytes = SHOWN_MIB(13912),
     .local_bytes = SHOWN_KIB(64),
     .group_size = 256,
     .wave = 32,
     .vector_width = 1,
     .alignment_bits = 1024,
     .extensions = SHOWN_AMD},
    {.key = "amd_gcn",
     .name = "gfx906:sramecc+:xnack-",
     .vendor = "Advanced Micro Devices, Inc.",
     .board = "AMD Radeon VII",
     .vendor_id = 0x1002,
     .compute_units = 60,
     .clock_mhz = 1801,
     .global_bytes = SHOWN_MIB(16368),
     .largest_bytes = SHOWN_MIB(13912),
     .local_bytes = SHOWN_KIB(64),
     .group_size = 256,
     .wave = 64,
     .vector_width = 1,
     .alignment_bits = 1024,
     .extensions = SHOWN_AMD},
    {.key = "intel_gen9", /* GT2 of Skylake: 0.44 TFLOPS */
     .name = "Intel(R) HD Graphics 530",
     .vendor = "Intel(R) Corporation",
     .vendor_id = 0x8086,
     .compute_units = 24,
     .clock_mhz = 1150,
     .global_bytes = SHOWN_MIB(12615),
     .largest_bytes = SHOWN_MIB(4095),
     .local_bytes = SHOWN_KIB(64),
     .group_size = 256,
     .wave = 16,
     .vector_width = 1,
     .alignment_bits = 1024,
     .unified = true,
     .unit_lanes = 8,
     .gib_per_second = 20,
     .extensions = SHOWN_INTEL},
    {.key = "amd_vega8", /* of a Ryzen 3 2200G: 1.1 TFLOPS */
     .name = "gfx902:xnack+",
     .vendor = "Advanced Micro Devices, Inc.",
     .board = "AMD Radeon Vega 8 Graphics",
     .vendor_id = 0x1002,
     .compute_units = 8,
     .clock_mhz = 1100,
     .global_bytes = SHOWN_MIB(14000),
     .largest_bytes = SHOWN_MIB(11900),
     .local_bytes = SHOWN_KIB(64),
     .group_size = 256,
     .wave = 64,
     .vector_width = 1,
     .alignment_bits = 1024,
     .unified = true,
     .unit_lanes = 64,
     .gib_per_second = 25,
     .extensions = SHOWN_AMD},
    {.key = "intel_gen12",
     .name = "Intel(R) Iris(R) Xe Graphics",
     .vendor = "Intel(R) Corporation",
     .vendor_id = 0x8086,
     .compute_units = 96,
     .clock_mhz = 1300,
     .global_bytes = SHOWN_MIB(12615),
     .largest_bytes = SHOWN_MIB(4095),
     .local_bytes = SHOWN_KIB(64),
     .group_size = 512,
     .wave = 16,
     .vector_width = 1,
     .alignment_bits = 1024,
     .unified = true,
     .extensions = SHOWN_INTEL},
    {.key = "intel_arc",
     .name = "Intel(R) Arc(TM) A770 Graphics",
     .vendor = "Intel(R) Corporation",
     .vendor_id = 0x8086,
     .compute_units = 512,
     .clock_mhz = 2400,
     .global_bytes = SHOWN_MIB(15473),
     .largest_bytes = SHOWN_MIB(4095),
     .local_bytes = SHOWN_KIB(64),
     .group_size = 1024,
     .wave = 16,
     .vector_width = 1,
     .alignment_bits = 1024,
     .extensions = SHOWN_INTEL},
    {.key = "arm_small",
     .name = "Mali-G52 r1p0",
     .vendor = "ARM",
     .vendor_id = 0x13b5,
     .compute_units = 2,
     .clock_mhz = 800,
     .global_bytes = SHOWN_MIB(1800),
     .largest_bytes = SHOWN_MIB(64),
     .local_bytes = SHOWN_KIB(32),
     .group_size = 384,
     .wave = 8,
     .vector_width = 4,
     .alignment_bits = 1024,
     .unified = true,
     .unit_lanes = 24,
     .gib_per_second = 6,
     .extensions = SHOWN_BASE " cl_khr_priority_hints"},
    {.key = "small_groups",
     .name = "GPU with work-groups of 64",
     .vendor = "None",
     .vendor_id = 0xffff,
     .compute_units = 2,
     .clock_mhz = 500,
     .global_bytes = SHOWN_MIB(1800),
     .largest_bytes = SHOWN_MIB(450),
     .local_bytes = SHOWN_KIB(32),
     .group_size = 64,
     .wave = 8,
     .vector_width = 4,
     .alignment_bits = 1024,
     .unified = true,
     .extensions = SHOWN_BASE},
};

#endif
