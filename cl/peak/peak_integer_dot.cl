/* SPDX-License-Identifier: MIT */
/* Measures the peak rate of dot products of four signed bytes that accumulate in 32 bits (cl_khr_integer_dot_product), with operands in
 * registers. A work-item runs eight independent chains of s += dot(bytes of s, factor), modulo 2^32. */
#ifndef WG
#error "WG: work-items of a group"
#endif

#ifndef IS_BUILT_IN
#error "IS_BUILT_IN: 1 the function of the extension, 0 plain arithmetic, which some compilers turn into better code"
#endif

/* Compilers that only check the kernel may lack the built-in function; then IS_BUILT_IN 1 is plain arithmetic, too. Drivers before OpenCL C
 * 3.0 have the function but do not declare it. */
#if IS_BUILT_IN && (defined(cl_khr_integer_dot_product) || defined(__opencl_c_integer_dot_product_input_4x8bit_packed))
#if !defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
int __attribute__((overloadable, const)) dot_4x8packed_ss_int(uint a, uint b);
#endif
#define DOT(a, b) dot_4x8packed_ss_int(a, b)
#else
static inline int dot_by_bytes(char4 a, char4 b)
{
    return (int)a.x * b.x + (int)a.y * b.y + (int)a.z * b.z + (int)a.w * b.w;
}
#define DOT(a, b) dot_by_bytes(as_char4(a), as_char4(b))
#endif

#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define START(i) uint s##i = start[i] + offset;
#define STEP(i) s##i += (uint)DOT(s##i, factor);
#define SUM(i) sum ^= s##i;

/* out[item] = exclusive or of the item's chains after `steps` steps from start[chain] + scale * (item & mask); steps is a multiple of 4. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void peak_integer_dot(__global const uint *start, uint factor, uint scale, int mask, int steps, __global uint *out)
{
    const uint offset = scale * (uint)((int)get_global_id(0) & mask);
    EACH(START)
    for (int i = 0; i < steps; i += 4) {
        EACH(STEP) EACH(STEP) EACH(STEP) EACH(STEP)
    }
    uint sum = 0;
    EACH(SUM)
    out[get_global_id(0)] = sum;
}
