# SPDX-License-Identifier: MIT
"""Other tools' rules on the same outputs, from their published definitions.

same          torch/_dynamo/utils.py, same(): allclose(rtol = atol = 1e-4), else RMSE of B against
              the double-precision result <= multiplier * RMSE of A + 1e-5; multiplier 3 for f16, bf16
              and below 1000 elements, else 2. equal_nan as the benchmarks of PyTorch set it.
assert_close  torch/testing/_comparison.py, default_tolerances: |a - b| <= atol + rtol |b|, by type.
              equal_nan is set, which its default does not: a NaN on both sides is no difference.
polygraphy    CompareFunc.simple: rtol = atol = 1e-5 and check_error_stat "elemwise", as documented;
              NaN in either output fails there; a NaN on both sides is let pass here.
Outputs are f64 reference, f32, bf16, f16, fp8 e4m3 (compared as numbers) and i32 (exactly).
"""
import array
import math
import struct

ASSERT_CLOSE = {"f32": (1.3e-6, 1e-5), "bf16": (1.6e-2, 1e-5), "f16": (1e-3, 1e-5),
                "fp8": (0.0, 0.0), "i32": (0.0, 0.0), "i8": (0.0, 0.0)}
POLYGRAPHY = (1e-5, 1e-5)
SAME_TOLERANCE = 1e-4


def fp8_value(byte):
    exponent, fraction = byte >> 3 & 15, byte & 7
    sign = -1.0 if byte & 0x80 else 1.0
    if exponent == 15 and fraction == 7:
        return math.nan
    if not exponent:
        return sign * math.ldexp(fraction, -9)
    return sign * math.ldexp(8 + fraction, exponent - 10)


FP8 = [fp8_value(b) for b in range(256)]


def numbers(type_, raw):
    if type_ == "fp8":
        return [FP8[b] for b in raw]
    if type_ == "bf16":
        wide = bytearray(2 * len(raw))
        wide[2::4], wide[3::4] = raw[::2], raw[1::2]
        return array.array("f", bytes(wide))
    if type_ == "f16":
        return struct.unpack(f"<{len(raw) // 2}e", raw)
    return array.array({"f64": "d", "f32": "f", "i32": "i", "i8": "b"}[type_], raw)


def read_dump(path):
    """(entry, inputs, shape) → list of (type, bytes), an output each."""
    launches = {}
    with open(path, "rb") as f:
        while True:
            head = f.readline().decode().split()
            if not head:
                return launches
            entry, kind, shape, _, type_, count = head
            size = int(count) * {"f64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "fp8": 1, "i8": 1}[type_]
            raw = f.read(size)
            if len(raw) != size:
                raise ValueError(f"{path}: ends within an output of {entry}")
            launches.setdefault((entry, kind, shape), []).append((type_, raw))


def close(a, b, rtol, atol):
    for x, y in zip(a, b):
        if x == y or (x != x and y != y):
            continue
        if not abs(x - y) <= atol + rtol * abs(y) or math.isinf(x) or math.isinf(y):
            return False
    return True


def rmse(reference, x):
    total = sum((r - v) * (r - v) for r, v in zip(reference, x))
    return math.sqrt(total / len(x))


def same(type_, a, b, reference):
    if close(b, a, SAME_TOLERANCE, SAME_TOLERANCE):  # allclose(ref, res): relative to res
        return True
    if reference is None:
        return False
    a_error, b_error = rmse(reference, a), rmse(reference, b)
    if math.isnan(a_error) and math.isnan(b_error):
        return True
    multiplier = 3.0 if type_ in ("f16", "bf16") or len(a) < 1000 else 2.0
    return b_error <= multiplier * a_error + SAME_TOLERANCE / 10


RULES = ["same", "assert_close", "polygraphy"]


def accepts(type_, raw_a, raw_b, raw_reference):
    """Rule → whether it takes B for A, for one output."""
    if raw_a == raw_b:
        return dict.fromkeys(RULES, True)
    a, b = numbers(type_, raw_a), numbers(type_, raw_b)
    if type_ in ("i32", "i8"):
        return dict.fromkeys(RULES, False)
    reference = None if raw_reference is None else numbers(*raw_reference)
    rtol, atol = ASSERT_CLOSE[type_]
    return {"same": same(type_, a, b, reference), "assert_close": close(a, b, rtol, atol),
            "polygraphy": close(a, b, *POLYGRAPHY)}


def judge(a, b, reference, family_of):
    """Rule → set of the pairs that it does not accept; arguments are what read_dump returned."""
    rejected = {rule: set() for rule in RULES}
    for key, outputs in a.items():
        truth = reference.get((family_of(key[0]), *key[1:]), [])
        for i, (type_, raw) in enumerate(outputs):
            wide = truth[i] if i < len(truth) and truth[i][0] == "f64" else None
            for rule, good in accepts(type_, raw, b[key][i][1], wide).items():
                if not good:
                    rejected[rule].add(key[0])
    return rejected
