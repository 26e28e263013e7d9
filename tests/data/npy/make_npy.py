#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden .npy files beside this script with NumPy itself.

Element i in C order is i for unsigned types, i - 5 for signed ones, (i - 5) * 0.75 for floats and i % 3 == 0 for booleans. So a reader can
be checked without a second copy of the numbers. refused_* hold what the reader must name and refuse.
Usage: python3 make_npy.py  (NumPy 2.x)
"""
import pathlib
import warnings

import numpy as np

here = pathlib.Path(__file__).parent


def numbers(dtype, shape):
    i = np.arange(int(np.prod(shape))).reshape(shape)
    kind = np.dtype(dtype).kind
    values = {"u": i, "i": i - 5, "f": (i - 5) * 0.75, "b": i % 3 == 0}[kind]
    return values.astype(dtype)


def write(name, array, version=(1, 0)):
    with open(here / f"{name}.npy", "wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(file, array, version=version)


for kind in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1".split():
    write(f"{kind}_c", numbers(kind, (2, 3)))
    if np.dtype(kind).itemsize > 1:
        write(f"{kind}_big", numbers(">" + kind, (2, 3)))
write("f4_fortran", np.asfortranarray(numbers("f4", (2, 3, 4))))
write("f2_fortran_big", np.asfortranarray(numbers(">f2", (3, 5))))
write("f4_scalar", numbers("f4", ()))
write("f4_empty", numbers("f4", (0, 4)))
write("f4_empty_fortran", np.asfortranarray(numbers("f4", (3, 0, 2))))
write("i4_vector", numbers("i4", (7,)))
write("f8_rank32", numbers("f8", (1,) * 15 + (2,) + (1,) * 15 + (3,)))
write("f4_version2", numbers("f4", (2, 3)), (2, 0))
write("f4_version3", numbers("f4", (2, 3)), (3, 0))
write("f4_special", np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4028235e38], "f4"))
write("i8_large", np.array([2**53 + 1, -(2**63), 2**63 - 1, 16777217], "i8"))
write("u8_large", np.array([2**64 - 1, 2**63 + 1025], "u8"))

write("refused_complex", np.zeros(2, "c8"))
write("refused_string", np.array(["ab", "c"]))
write("refused_bytes", np.array([b"ab", b"c"]))
write("refused_time", np.array(["2020-01-01"], "M8[D]"))
write("refused_raw", np.zeros(2, "V3"))
write("refused_structured", np.zeros(2, [("x", "f4"), ("y", "i4")]))
write("refused_object", np.array([{}, None], dtype=object))
write("refused_long_double", np.zeros(1, "f16"))
