#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden.json: inputs, command lines and float64 results for tests/cli/test_op.py. Needs NumPy; the test does not.

Inputs are float32 values, masks and lengths; every result is computed here in float64 straight from the formulas. null stands for NaN.
"""
import json
import math
import os

import numpy as np

rng = np.random.default_rng(20)
tensors, cases = {}, []


def put(name, array):
    tensors[name] = np.asarray(array)
    return tensors[name]


def normal(name, *shape, scale=1.0):
    return put(name, (scale * rng.standard_normal(shape)).astype(np.float32)).astype(np.float64)


def case(name, op, files, options, result, weights=None, params=None):
    cases.append({"name": name, "op": op, "files": files, "options": options, "params": params or {},
                  "result": encode(result, 12), "weights": None if weights is None else encode(weights, 12)})


def encode(array, digits=17):
    """digits: of results, whose last ones depend on the order in which a machine adds."""
    array = np.asarray(array)
    values = [float(f"{v:.{digits}g}") if isinstance(v, float) else v for v in array.reshape(-1).tolist()]
    values = [None if isinstance(v, float) and math.isnan(v) else v for v in values]
    values = ["-inf" if v == -math.inf else "inf" if v == math.inf else v for v in values]
    return {"shape": list(array.shape), "values": values, "kind": array.dtype.kind}


def softmax(s, keep, axis, policy="zero"):
    """Weights over the kept keys; a row with none follows the policy."""
    s = np.where(keep, s, -math.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        top = s.max(axis=axis, keepdims=True)
        e = np.where(s == -math.inf, 0.0, np.exp(s - np.where(np.isinf(top) & (top < 0), 0.0, top)))
        z = e.sum(axis=axis, keepdims=True)
        p = e / z
    empty = {"zero": 0.0, "nan": math.nan, "uniform": 1.0 / s.shape[axis]}[policy]
    return np.where(z == 0, empty, p)


# --- softmax -------------------------------------------------------------------------------------------------------------------------

x = normal("x", 2, 3, 5, scale=3)
every = np.ones_like(x, bool)
for axis in (0, 1, 2, -1):
    case(f"softmax axis {axis}", "softmax", ["x"], {"--axis": axis}, softmax(x, every, axis))
case("softmax scale", "softmax", ["x"], {"--scale": 0.25}, softmax(0.25 * x, every, -1))
m = put("m", rng.random((1, 3, 5)) > 0.4)
m[0, 1] = False
case("softmax mask", "softmax", ["x"], {"--mask": "m"}, softmax(x, every & m, -1))
case("softmax mask, axis 1", "softmax", ["x"], {"--mask": "m", "--axis": 1}, softmax(x, every & m, 1))
for policy in ("zero", "nan", "uniform"):
    case(f"softmax policy {policy}", "softmax", ["x"], {"--mask": "m", "--policy": policy}, softmax(x, every & m, -1, policy))
causal = np.arange(5) <= np.arange(3)[:, None]
case("softmax causal", "softmax", ["x"], {"--causal": True}, softmax(x, every & causal, -1))
case("softmax causal, offset", "softmax", ["x"], {"--causal": True, "--causal-offset": 2},
     softmax(x, every & (np.arange(5) <= np.arange(3)[:, None] + 2), -1))
bias = put("bias", np.where(rng.random((2, 1, 5)) > 0.3, rng.standard_normal((2, 1, 5)), -math.inf).astype(np.float32)).astype(np.float64)
case("softmax additive mask", "softmax", ["x"], {"--bias": "bias"}, softmax(x + bias, every, -1))
hostile, masked = tensors["x"].copy(), np.broadcast_to(~m, x.shape)
hostile[masked] = np.resize([math.nan, math.inf, 3e38, -3e38], masked.sum())
put("hostile", hostile)
case("softmax ignores what is masked", "softmax", ["hostile"], {"--mask": "m"}, softmax(x, every & m, -1))
padding = put("padding", np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]], np.uint8))
look = put("look", np.array([[1, 0, 0, 1, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 7]], np.int64))
both = every & (padding != 0)[:, None, :] & (look != 0)
case("softmax padding and attention mask", "softmax", ["x"], {"--padding-mask": "padding", "--attention-mask": "look"},
     softmax(x, both, -1))
lengths = put("lengths", np.array([2, 0], np.int64))
per_query = put("per_query", np.array([[1, 3, 9], [0, -1, 5]], np.int32))
by_length = every & (np.arange(5) < lengths[:, None, None])
by_query = every & (np.arange(5) < per_query[:, :, None])
case("softmax lengths, padding and causal", "softmax", ["x"], {"--lengths": "per_query", "--padding-mask": "padding", "--causal": True},
     softmax(x, by_query & (padding != 0)[:, None, :] & causal, -1))
nijh = normal("nijh", 2, 3, 5, 2)
case("softmax of scores [n,i,j,h]", "softmax", ["nijh"],
     {"--axis": 2, "--query-axis": 1, "--padding-mask": "padding", "--attention-mask": "look", "--policy": "nan"},
     softmax(nijh, both[..., None] & np.ones_like(nijh, bool), 2, "nan"))
ijbh = normal("ijbh", 3, 5, 2, 2)
case("softmax of scores [i,j,b,h]", "softmax", ["ijbh"],
     {"--axis": 1, "--query-axis": 0, "--batch-axis": 2, "--padding-mask": "padding", "--causal": True},
     softmax(ijbh, (padding != 0).T[None, :, :, None] & causal[:, :, None, None] & np.ones_like(ijbh, bool), 1))

case("masked_softmax without lengths", "masked_softmax", ["x"], {}, softmax(x, every, -1))
case("masked_softmax lengths per row", "masked_softmax", ["x"], {"--lengths": "lengths", "--policy": "uniform"},
     softmax(x, by_length, -1, "uniform"))
case("masked_softmax lengths per query", "masked_softmax", ["x"], {"--lengths": "per_query"}, softmax(x, by_query, -1))

# --- norms, activations, positions -----------------------------------------------------------------------------------------------------

gamma, beta = normal("gamma", 5), normal("beta", 5)
gamma2 = normal("gamma2", 3, 5)


def layer_norm(v, axes, eps):
    c = v - v.mean(axis=axes, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=axes, keepdims=True) + eps)


case("layer_norm", "layer_norm", ["x"], {}, layer_norm(x, (2,), 1e-5))
case("layer_norm gain", "layer_norm", ["x", "gamma"], {}, layer_norm(x, (2,), 1e-5) * gamma)
case("layer_norm gain and shift, eps", "layer_norm", ["x", "gamma", "beta"], {"--eps": 0.1}, layer_norm(x, (2,), 0.1) * gamma + beta)
case("layer_norm two axes", "layer_norm", ["x", "gamma2"], {"--axes": 2}, layer_norm(x, (1, 2), 1e-5) * gamma2)
far = put("far", (1e4 + rng.uniform(-1, 1, (3, 16))).astype(np.float32)).astype(np.float64)
case("layer_norm of rows far from 0", "layer_norm", ["far"], {}, layer_norm(far, (1,), 1e-5))
residual = normal("residual", 2, 3, 5)
case("layer_norm of a sum", "layer_norm", ["x"], {"--residual": "residual"}, layer_norm(x + residual, (2,), 1e-5))
case("rms_norm", "rms_norm", ["x"], {}, x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6))
case("rms_norm gain, two axes", "rms_norm", ["x", "gamma2"], {"--axes": 2, "--eps": 1e-3},
     x / np.sqrt((x * x).mean((1, 2), keepdims=True) + 1e-3) * gamma2)

activations = {
    "none": lambda v: v,
    "relu": lambda v: max(v, 0.0),
    "gelu": lambda v: v * math.erfc(-v / math.sqrt(2)) / 2,
    "gelu_tanh": lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
    "gelu_quick": lambda v: v / (1 + math.exp(-1.702 * v)),
    "silu": lambda v: v / (1 + math.exp(-v)),
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
    "tanh": math.tanh,
}
for kind, function in activations.items():
    case(f"activation {kind}", "activation", ["x"], {"--kind": kind}, np.vectorize(function)(x))
case("activation f16", "activation", ["x"], {"--kind": "silu", "--dtype": "f16"}, np.vectorize(activations["silu"])(x))
for length, dim in ((7, 6), (4, 5)):
    angle = np.arange(length)[:, None] * np.exp(-2 * (np.arange(dim) // 2) * math.log(10000) / dim)
    case(f"positional_encoding [{length},{dim}]", "positional_encoding", [], {"--length": length, "--dim": dim},
         np.where(np.arange(dim) % 2, np.cos(angle), np.sin(angle)))

# --- attention -------------------------------------------------------------------------------------------------------------------------

B, Q, K, D, DK, DV, H = 2, 3, 5, 4, 6, 7, 8
q, k, v, wide = normal("q", B, Q, D), normal("k", B, K, D), normal("v", B, K, DV), normal("wide", B, K, DK)
wq, wk, wv, bilinear = normal("wq", H, D), normal("wk", H, DK), normal("wv", 1, H), normal("between", D, DK)
scores = {
    "dot": ("k", {}, np.einsum("bqd,bkd->bqk", q, k), 1 / math.sqrt(D)),
    "additive": ("wide", {"--wq": "wq", "--wk": "wk", "--wv": "wv"}, np.tanh((q @ wq.T)[:, :, None] + (wide @ wk.T)[:, None]) @ wv[0], 1),
    "bilinear": ("wide", {"--m": "between"}, np.einsum("bqd,de,bke->bqk", q, bilinear, wide), 1 / math.sqrt(DK)),
    "distance": ("k", {}, -((q[:, :, None] - k[:, None]) ** 2).sum(-1) / 2, 1),
}
full = np.ones((B, Q, K), bool)
mask3 = put("mask3", rng.random((1, Q, K)) > 0.3)
for kind, (keys, options, s, scale) in scores.items():
    for title, more, keep, factor, policy in (
        ("", {}, full, scale, "zero"),
        (" lengths", {"--lengths": "lengths", "--policy": "uniform"}, by_length, scale, "uniform"),
        (" lengths per query, mask, causal, scale", {"--lengths": "per_query", "--mask": "mask3", "--causal": True, "--scale": 0.3},
         by_query & mask3 & causal, 0.3, "zero"),
    ):
        w = softmax(factor * s, full & keep, -1, policy)
        case(f"attention {kind}{title}", "attention", ["q", keys, "v"], {"--score": kind, **options, **more}, w @ v, w)
w = softmax(scores["dot"][2] / math.sqrt(D) + bias, both, -1)
case("attention padding, attention and additive masks", "attention", ["q", "k", "v"],
     {"--padding-mask": "padding", "--attention-mask": "look", "--bias": "bias"}, w @ v, w)
w = softmax(np.einsum("bqd,bkd->bqk", k, k) / math.sqrt(D), np.ones((B, K, K), bool), -1)
case("attention of a sequence to itself", "attention", ["k"], {}, w @ k, w)

# --- multi-head attention --------------------------------------------------------------------------------------------------------------

E, HEADS = 6, 2
P = {part: normal(f"p_{part}", E, E) for part in "qkvo"}
PB = {part: normal(f"pb_{part}", E) for part in "qkvo"}
# in_proj: the three one after another
put("p_in", np.concatenate([tensors[f"p_{part}"] for part in "qkv"]))
put("pb_in", np.concatenate([tensors[f"pb_{part}"] for part in "qkv"]))


def mha(xq, xk, xv, keep, policy, biases="qkvo"):
    """[N,L,D]; keep broadcasts to [N,H,Q,K]."""
    def split(t, part):
        return (t @ P[part].T + (PB[part] if part in biases else 0)).reshape(*t.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    s = split(xq, "q") @ split(xk, "k").transpose(0, 1, 3, 2) / math.sqrt(E // HEADS)
    p = softmax(s, np.broadcast_to(keep, s.shape), -1, policy)
    context = (p @ split(xv, "v")).transpose(0, 2, 1, 3).reshape(*xq.shape[:2], -1)
    return context @ P["o"].T + (PB["o"] if "o" in biases else 0), p


def params(names, biases, bias_names=None):
    found = {name: f"p_{part}" for part, name in zip("qkvo", names)}
    for part, name in zip("qkvo", bias_names or [n.replace("weight", "bias") for n in names]):
        if part in biases:
            found[name] = f"pb_{part}"
    return found


xq, xk, xv = normal("xq", B, Q, E), normal("xk", B, K, E), normal("xv", B, K, E)
for name in ("xq", "xk", "xv"):
    put(name + "_lnd", tensors[name].transpose(1, 0, 2).copy())
labml = ["query.linear.weight", "key.linear.weight", "value.linear.weight", "output.weight"]
note = ["W_Q.weight", "W_K.weight", "W_V.weight", "W_O.weight"]
csdn = ["w_q.weight", "w_k.weight", "w_v.weight", "fc.weight"]
short = ["wq", "wk", "wv", "wo"]
heads = {"--heads": HEADS}
out, p = mha(xq, xk, xv, True, "zero")
case("mha", "mha", ["xq", "xk", "xv"], heads, out, p, params(note, "qkvo"))
case("mha under a prefix", "mha", ["xq", "xk", "xv"], {**heads, "--prefix": "layers.0.self_attn."}, out, p,
     {**{"layers.0.self_attn." + n: t for n, t in params(csdn, "qkvo").items()}, "layers.0.norm.weight": "gamma"})
case("mha torch names", "mha", ["xq", "xk", "xv"], heads, out, p,
     {"in_proj_weight": "p_in", "in_proj_bias": "pb_in", "out_proj.weight": "p_o", "out_proj.bias": "pb_o"})
case("mha torch names, separate", "mha", ["xq", "xk", "xv"], heads, out, p,
     {"q_proj_weight": "p_q", "k_proj_weight": "p_k", "v_proj_weight": "p_v", "in_proj_bias": "pb_in", "out_proj.weight": "p_o",
      "out_proj.bias": "pb_o"})
case("mha lnd", "mha", ["xq_lnd", "xk_lnd", "xv_lnd"], {**heads, "--layout": "lnd"}, out.transpose(1, 0, 2), p, params(labml, "qkvo"))
out, p = mha(xq, xk, xv, True, "zero", "vo")
case("mha without query and key bias", "mha", ["xq", "xk", "xv"], heads, out, p, params(labml, "vo"))
out, p = mha(xq, xk, xv, True, "zero", "")
case("mha without bias, short names", "mha", ["xq", "xk", "xv"], heads, out, p, params(short, ""))
out, p = mha(xq, xk, xv, True, "zero", "q")
case("mha short names with one bias", "mha", ["xq", "xk", "xv"], heads, out, p, params(short, "q", ["bq", "bk", "bv", "bo"]))
mask_lnd = put("mask_lnd", rng.random((Q, K, B)) > 0.4)
mask_lnd[1, :, 0] = False
out, p = mha(xq, xk, xv, mask_lnd.transpose(2, 0, 1)[:, None], "nan")
case("mha lnd, mask [q,k,n]", "mha", ["xq_lnd", "xk_lnd", "xv_lnd"], {**heads, "--layout": "lnd", "--mask": "mask_lnd", "--policy": "nan"},
     out.transpose(1, 0, 2), p, params(labml, "qkvo"))
mask4 = put("mask4", rng.random((B, 1, Q, K)) > 0.4)
mask4[1, 0, 2] = False
out, p = mha(xq, xk, xv, mask4, "uniform")
case("mha mask [n,1,q,k], uniform", "mha", ["xq", "xk", "xv"], {**heads, "--mask": "mask4", "--policy": "uniform"}, out, p,
     params(csdn, "qkvo"))
out, p = mha(xq, xk, xv, (padding != 0)[:, None, None, :] & (look != 0), "zero")
case("mha padding and attention mask", "mha", ["xq", "xk", "xv"], {**heads, "--padding-mask": "padding", "--attention-mask": "look"},
     out, p, params(note, "qkvo"))
out, p = mha(xq, xq, xq, np.tril(np.ones((Q, Q), bool)), "zero")
case("mha of a sequence to itself, causal", "mha", ["xq"], {**heads, "--causal": True}, out, p, params(note, "qkvo"))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json"), "w", encoding="ascii") as file:
    file.write('{"tensors": {\n' + ",\n".join(f"{json.dumps(n)}: {json.dumps(encode(t))}" for n, t in tensors.items()) + '},\n"cases": [\n')
    file.write(",\n".join(json.dumps(c) for c in cases) + "]}\n")
print(len(cases), "cases")
