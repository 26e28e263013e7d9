/* SPDX-License-Identifier: MIT */
/* floatv, intv: vectors of WIDTH (1, 4, 8 or 16) lanes, and their loads and stores for every storage type. */
#include "types.cl"

#ifndef WIDTH
#error "WIDTH: lanes of a vector, 1, 4, 8 or 16"
#endif

#if WIDTH == 1
typedef float floatv;
typedef int intv;
typedef uint uintv;
typedef ushort ushortv;
typedef char charv;
#define VECTOR_LOAD(p) (*(p))
#define VECTOR_STORE(v, p) (*(p) = (v))
#define VECTOR_LOAD_HALF(p) vload_half(0, p)
#define VECTOR_STORE_HALF(v, p) vstore_half_rte(v, 0, p)
#define AS_FLOATV as_float
#define AS_INTV as_int
#define AS_UINTV as_uint
#define TO_FLOATV convert_float
#define TO_INTV convert_int
#define TO_UINTV convert_uint
#define TO_USHORTV convert_ushort
#else
typedef PASTE(float, WIDTH) floatv;
typedef PASTE(int, WIDTH) intv;
typedef PASTE(uint, WIDTH) uintv;
typedef PASTE(ushort, WIDTH) ushortv;
typedef PASTE(char, WIDTH) charv;
#define VECTOR_LOAD(p) PASTE(vload, WIDTH)(0, p)
#define VECTOR_STORE(v, p) PASTE(vstore, WIDTH)(v, 0, p)
#define VECTOR_LOAD_HALF(p) PASTE(vload_half, WIDTH)(0, p)
#define VECTOR_STORE_HALF(v, p) PASTE3(vstore_half, WIDTH, _rte)(v, 0, p)
#define AS_FLOATV PASTE(as_float, WIDTH)
#define AS_INTV PASTE(as_int, WIDTH)
#define AS_UINTV PASTE(as_uint, WIDTH)
#define TO_FLOATV PASTE(convert_float, WIDTH)
#define TO_INTV PASTE(convert_int, WIDTH)
#define TO_UINTV PASTE(convert_uint, WIDTH)
#define TO_USHORTV PASTE(convert_ushort, WIDTH)
#endif

/* vector_load_x and vector_store_x: WIDTH elements from p on, aligned as an element. PASTE(vector_, LOAD_IN)(p) picks one by its type. */
static inline floatv vector_load_bf16(__global const ushort *p)
{
    return AS_FLOATV(TO_UINTV(VECTOR_LOAD(p)) << 16);
}

/* Clang for x86-64 and AArch64 gets one unaligned access: some versions build vload16 and vstore16 from parts and then split the arithmetic
 * between two loads as well. PoCL assumes that the memory of vload_half16 and vstore_half16 is aligned to the vector, so these work on a
 * variable. */
#if WIDTH > 1 && defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
typedef floatv floatv_unaligned __attribute__((aligned(4)));
typedef ushortv ushortv_unaligned __attribute__((aligned(2)));
typedef charv charv_unaligned __attribute__((aligned(1)));

static inline floatv vector_load_f32(__global const float *p)
{
    return *(__global const floatv_unaligned *)p;
}

static inline void vector_store_f32(__global float *p, floatv v)
{
    *(__global floatv_unaligned *)p = v;
}

static inline floatv vector_load_f16(__global const half *p)
{
    const ushortv bits = *(__global const ushortv_unaligned *)p;
    return VECTOR_LOAD_HALF((const half *)&bits);
}

static inline floatv vector_load_i8(__global const char *p)
{
    return TO_FLOATV(*(__global const charv_unaligned *)p);
}

static inline void vector_store_f16(__global half *p, floatv v)
{
    ushortv bits;
    VECTOR_STORE_HALF(v, (half *)&bits);
    *(__global ushortv_unaligned *)p = bits;
}
#else
static inline floatv vector_load_f32(__global const float *p)
{
    return VECTOR_LOAD(p);
}

static inline void vector_store_f32(__global float *p, floatv v)
{
    VECTOR_STORE(v, p);
}

static inline floatv vector_load_f16(__global const half *p)
{
    return VECTOR_LOAD_HALF(p);
}

static inline floatv vector_load_i8(__global const char *p)
{
    return TO_FLOATV(VECTOR_LOAD(p));
}

static inline void vector_store_f16(__global half *p, floatv v)
{
    VECTOR_STORE_HALF(v, p);
}
#endif

static inline void vector_store_bf16(__global ushort *p, floatv v)
{
    const uintv bits = AS_UINTV(v);
    const uintv rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uintv kept = (bits >> 16) | 0x40u; /* NaN */
    VECTOR_STORE(TO_USHORTV(isnan(v) ? kept : rounded), p);
}
