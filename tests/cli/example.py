# SPDX-License-Identifier: MIT
# How alike are two texts? usage: example.py MODEL_DIR TEXT TEXT
import ctypes, math, sys

lib = ctypes.CDLL("libclformer.so.0")
lib.clf_last_error.restype = ctypes.c_char_p

class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]

def check(status):
    if status:
        sys.exit(lib.clf_last_error().decode())

context, model, session, width = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
check(lib.clf_context_create(None, ctypes.byref(context)))
check(lib.clf_model_open(context, sys.argv[1].encode(), None, ctypes.byref(model)))
check(lib.clf_session_create(model, None, ctypes.byref(session)))
texts = [Text(t.encode(), len(t.encode())) for t in sys.argv[2:4]]
check(lib.clf_model_embedding_width(model, None, ctypes.byref(width)))
rows = ((ctypes.c_float * width.value) * 2)()
check(lib.clf_session_embed(session, (Text * 2)(*texts), ctypes.c_size_t(2), None, rows, None))
print("%.4f" % (sum(a * b for a, b in zip(*rows)) / (math.hypot(*rows[0]) * math.hypot(*rows[1]))))
