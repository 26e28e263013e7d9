# SPDX-License-Identifier: MIT
"""Made-up result files of clformer bench, for the tests of compare and report: the format is real, the times are drawn."""
import json
import random


def median(values):
    return quantile(values, 0.5)


def quantile(values, q):
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def device(index, name, platform, gflops=200.0, gbps=20.0, **more):
    d = {"id": index, "name": name, "platform": platform, "vendor": "Vendor", "driver": "1.0", "opencl_c": "OpenCL C 1.2", "type": "CPU",
         "compute_units": 2, "memory_bytes": 8 << 30, "max_allocation_bytes": 2 << 30, "unified_memory": True, "extensions": "",
         "status": "measured", "reason": "", "tuned": False, "clblast_parameters": "default",
         "limits": {"fp32_gflops": gflops, "copy_gbps": gbps * 0.9, "read_gbps": gbps}}
    d.update(more)
    return d


def gemm(m, n, k):
    return {"id": "gemm/f32/m%d-n%d-k%d" % (m, n, k), "suite": "ops", "op": "gemm",
            "work": {"op": "linear", "m": m, "n": n, "k": k, "storage": "f32", "arithmetic": "f32", "seed": 1}, "flops": 2.0 * m * n * k,
            "bytes": 4.0 * (m * n + n * k + m * k), "items": 0.0, "item": None, "limit": "fp32_gflops"}


def rows_op(op, rows, columns):
    return {"id": "%s/f32/%dx%d" % (op, rows, columns), "suite": "ops", "op": op,
            "work": {"op": op, "rows": rows, "columns": columns, "storage": "f32", "seed": 1}, "flops": 5.0 * rows * columns,
            "bytes": 8.0 * rows * columns, "items": 0.0, "item": None, "limit": "copy_gbps"}


def encoder(batch, length):
    return {"id": "encoder/MiniLM/b%d-t%d" % (batch, length), "suite": "models", "op": "encoder",
            "work": {"model": {"name": "MiniLM", "sha256": "ab" * 32}, "batch": batch, "length": length, "seed": 1},
            "flops": 4.5e7 * batch * length, "bytes": 9e7, "items": float(batch), "item": "texts", "limit": "fp32_gflops"}


def launch():
    return {"id": "launch/chained", "suite": "peak", "op": "launch", "work": {"op": "launch", "chain": 100}, "flops": 0.0, "bytes": 0.0,
            "items": 0.0, "item": None, "limit": None}


def samples(rng, level, rounds=10, each=8, noise=0.01, drift=0.01):
    """Times around `level` ms: each round has a state of its own beside the noise of each sample."""
    times = []
    for _ in range(rounds):
        state = level * (1 + drift * rng.gauss(0, 1))
        times += [state * (1 + abs(noise * rng.gauss(0, 1))) for _ in range(each)]
    return times, [each] * rounds


def ok(workload, device_id, engine, times, rounds):
    middle = median(times)
    rate, unit = (middle * 1e3, "us")
    if workload["items"]:
        rate, unit = workload["items"] / middle * 1e3, workload["item"] + "/s"
    elif workload["limit"] == "fp32_gflops":
        rate, unit = workload["flops"] / middle * 1e-6, "GFLOP/s"
    elif workload["bytes"]:
        rate, unit = workload["bytes"] / middle * 1e-6, "GB/s"
    p10, p90 = quantile(times, 0.1), quantile(times, 0.9)
    return {"workload": workload["id"], "device": device_id, "engine": engine, "status": "ok", "reason": "", "verified": True,
            "max_error": 1e-6, "error_bound": 1e-4, "runs_per_sample": 1, "wall_ms": times, "device_ms": [0.9 * t for t in times],
            "round_samples": rounds, "median_ms": middle, "p10_ms": p10, "p90_ms": p90, "device_median_ms": 0.9 * middle,
            "noisy": p90 - p10 > 0.1 * middle, "rate": rate, "rate_unit": unit, "percent_of_limit": None, "off_device": [],
            "memory": {"weights_bytes": 1 << 20, "scratch_bytes": 0, "host_peak_bytes": 1 << 26},
            "energy": {"joules_per_run": None, "method": "not measured"}}


def bad(workload, device_id, engine, status, reason):
    return {"workload": workload["id"], "device": device_id, "engine": engine, "status": status, "reason": reason, "verified": False,
            "max_error": None, "error_bound": None, "wall_ms": [], "device_ms": [], "off_device": [],
            "memory": {"weights_bytes": 0, "scratch_bytes": 0, "host_peak_bytes": 0}}


def document(devices, workloads, results, **more):
    d = {"schema": "clformer-bench", "schema_version": 1, "complete": True, "created": "2026-01-02T03:04:05Z",
         "settings": {"suites": ["ops"], "quick": False, "seed": 1, "min_seconds": 0.5, "min_samples": 10, "rounds": 10, "warm_up": 1},
         "library": {"version": "0.1.0", "commit": "0123abc", "clblast": "1.5.3"},
         "host": {"cpu": "Example CPU", "logical_cores": 2, "memory_bytes": 8 << 30, "os": "Linux", "kernel": "6.1"},
         "models": [{"name": "MiniLM", "sha256": "ab" * 32, "file_bytes": 90868376}], "devices": devices, "workloads": workloads,
         "results": results, "not_measured": [{"what": "energy of device 0", "why": "no counter"}]}
    d.update(more)
    return d


def simple(seed=1, factor=1.0, devices=1, workloads=None, **how):
    """A file whose times are `factor` times longer than those of factor 1."""
    rng = random.Random(seed)
    works = workloads or [gemm(m, n, k) for m in (1, 16, 128) for n, k in ((384, 384), (1536, 384), (384, 1536))] + [launch()]
    results = []
    for w in works:
        for d in range(devices):
            level = factor * (d + 1) * max(w["flops"] / 1e11, w["bytes"] / 1e10, 5e-6) * 1e3
            results.append(ok(w, d, "packed" if w["op"] == "gemm" else "", *samples(rng, level, **how)))
    return document([device(d, "Device %d" % d, "Platform") for d in range(devices)], works, results)


def write(path, doc):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(doc, file)
    return path
