# SPDX-License-Identifier: MIT
"""The labelled corpus: families with their shapes, and one row for each controlled change.

A pair is a family compiled twice under the pair's own name: once as families.py has it (A), once
after one change (B). make_corpus.py makes them, corpus.py judges them, README.md tells how.
"""

# ---- families ----
# half: tuned (thresholds may be set on them) or held (never looked at when they are set).
# kinds: as in tests/apps/make-kernels.py. shapes: name → what launch() makes arguments of.
# An argument: ("in" | "out" | "both", type, elements) | ("index", elements, limit) | number.
# "both" starts as data, "sum" as zeros that the kernel adds to.


def pointwise_shapes(block=1024):
    return {"tile": 3 * block, "tile-1": 3 * block - 1, "tile+1": 3 * block + 1}


def row_shapes():
    """BLOCK is 512: a full tile, one less, one more than half of it."""
    return {"tile": 512, "tile-1": 511, "half+1": 257}


def gemm_shapes():
    return {"tile": (64, 64, 128), "tile-1": (63, 63, 127), "tile+1": (65, 65, 129)}


ROWS = 12


def cdiv(a, b):
    return -(-a // b)


def pointwise_launch(n, c, inputs, out, scalars=()):
    types = [("in", t, n) for t in inputs]
    return (cdiv(n, c["BLOCK"]), 1), [*types, ("out", out, n), n, *scalars]


def row_launch(width, pitch, before, after, scalars=()):
    return (ROWS, 1), [*before, *after, width, pitch, *scalars]


def full(kind, type_, pitch):
    return (kind, type_, ROWS * pitch)


def gemm_launch(shape, c, type_, out="out", scalars=(), slices=1):
    m, n, k = shape
    lda, ldb = cdiv(k, 16) * 16 + 16, cdiv(n, 16) * 16 + 16
    return (cdiv(m, c["BM"]), cdiv(n, c["BN"]) * slices), [
        ("in", type_, m * lda), ("in", type_, k * ldb), (out, type_, m * ldb), m, n, k, lda, ldb, ldb,
        *scalars]


B1024 = {"BLOCK": 1024}
B512 = {"BLOCK": 512}
B128 = {"THREADS": 128}
TILE = {"BM": 32, "BN": 32, "BK": 32}
COLUMNS = {"BR": 16, "BC": 32}
FAMILIES = {
    "pointwise": dict(half="tuned", kinds="PPPnf", constants=B1024, shapes=pointwise_shapes(),
                      launch=lambda n, c: pointwise_launch(n, c, ["f32"] * 2, "f32", [1.25])),
    "chain_bf16": dict(half="tuned", kinds="HHHnf", constants=B1024, shapes=pointwise_shapes(),
                       launch=lambda n, c: pointwise_launch(n, c, ["bf16"] * 2, "bf16", [1.25])),
    "gelu_f16": dict(half="held", kinds="EEn", constants=B1024, shapes=pointwise_shapes(),
                     launch=lambda n, c: pointwise_launch(n, c, ["f16"], "f16")),
    "clamp_max": dict(half="held", kinds="PPPn", constants=B1024, shapes=pointwise_shapes(),
                      inputs=["gauss", "nan"],
                      launch=lambda n, c: pointwise_launch(n, c, ["f32"] * 2, "f32")),
    "downcast_bf16": dict(half="tuned", kinds="PHn", constants=B1024, shapes=pointwise_shapes(),
                          inputs=["gauss", "positive", "alternating", "ties"],
                          launch=lambda n, c: pointwise_launch(n, c, ["f32"], "bf16")),
    "downcast_f16": dict(half="held", kinds="PEn", constants=B1024, shapes=pointwise_shapes(),
                         inputs=["gauss", "positive", "alternating", "ties"],
                         launch=lambda n, c: pointwise_launch(n, c, ["f32"], "f16")),
    "quant_fp8": dict(half="tuned", kinds="PQnf", constants=B1024, shapes=pointwise_shapes(),
                      inputs=["gauss", "positive", "alternating", "wide"],
                      launch=lambda n, c: pointwise_launch(n, c, ["f32"], "fp8", [0.03])),
    "quant_i8": dict(half="tuned", kinds="PBnf", constants=B1024, shapes=pointwise_shapes(),
                     launch=lambda n, c: pointwise_launch(n, c, ["f32"], "i8", [0.037])),
    "cu_softmax": dict(half="tuned", cuda=True, kinds="PPnn", constants=B128, shapes=row_shapes(),
                       launch=lambda w, c: row_launch(w, 528, [full("in", "f32", 528)],
                                                      [full("out", "f32", 528)])),
    "cu_gemm": dict(half="held", cuda=True, kinds="PPPnnnnnn", constants=B128,
                    shapes=gemm_shapes(), launch=lambda s, c: gemm_launch(
                        s, {"BM": 8, "BN": 16}, "f32")),
    "cu_rmsnorm": dict(half="held", cuda=True, kinds="HPHnnf", constants=B128, shapes=row_shapes(),
                       launch=lambda w, c: row_launch(
                           w, 528, [full("in", "bf16", 528), ("in", "f32", 512)],
                           [full("out", "bf16", 528)], [1e-5])),
    "softmax": dict(half="tuned", kinds="PPnN", constants=B512, shapes=row_shapes(),
                    launch=lambda w, c: row_launch(w, 528, [full("in", "f32", 528)],
                                                   [full("out", "f32", 528)])),
    "softmax_f16": dict(half="held", kinds="EEnN", constants=B512, shapes=row_shapes(),
                        launch=lambda w, c: row_launch(w, 528, [full("in", "f16", 528)],
                                                       [full("out", "f16", 528)])),
    "xent": dict(half="held", kinds="PIPPnN", constants=B512, shapes=row_shapes(),
                 launch=lambda w, c: row_launch(
                     w, 528, [full("in", "f32", 528), ("index", ROWS, w)],
                     [("out", "f32", ROWS), ("out", "f32", ROWS)])),
    "layernorm": dict(half="tuned", kinds="PPHPPnNf", constants=B512, shapes=row_shapes(),
                      launch=lambda w, c: row_launch(
                          w, 528, [full("in", "f32", 528), ("in", "f32", 512)],
                          [full("out", "bf16", 528), ("out", "f32", ROWS), ("out", "f32", ROWS)],
                          [1e-5])),
    "rmsnorm": dict(half="held", kinds="EPEnNf", constants=B512, shapes=row_shapes(),
                    launch=lambda w, c: row_launch(
                        w, 528, [full("in", "f16", 528), ("in", "f32", 512)],
                        [full("out", "f16", 528)], [1e-5])),
    "layernorm_bwd": dict(half="held", kinds="PPPPnN", constants=B512, shapes=row_shapes(),
                          launch=lambda w, c: row_launch(
                              w, 528, [full("in", "f32", 528), full("in", "f32", 528),
                                       ("in", "f32", 512)], [full("out", "f32", 528)])),
    "colsum": dict(half="tuned", kinds="PPnnN", constants=COLUMNS,
                   shapes={"tile": (256, 64), "tile-1": (255, 63), "tile+1": (257, 65)},
                   launch=lambda s, c: ((cdiv(s[1], c["BC"]), 1),
                                        [("in", "f32", s[0] * 80), ("out", "f32", s[1]), *s, 80])),
    "colsum_atomic": dict(half="held", kinds="PPnnN", constants=COLUMNS,
                          shapes={"tile": (256, 64), "tile-1": (255, 63), "tile+1": (257, 65)},
                          launch=lambda s, c: (
                              (cdiv(s[1], c["BC"]), cdiv(s[0], c["BR"])),
                              [("in", "f32", s[0] * 80), ("sum", "f32", s[1]), *s, 80])),
    "cumsum": dict(half="held", kinds="PPnN", constants=B512, shapes=row_shapes(),
                   launch=lambda w, c: row_launch(w, 528, [full("in", "f32", 528)],
                                                  [full("out", "f32", 528)])),
    "argmax": dict(half="tuned", kinds="PInN", constants=B512, shapes=row_shapes(),
                   inputs=["gauss", "positive", "alternating", "coarse", "nan"],
                   launch=lambda w, c: row_launch(w, 528, [full("in", "f32", 528)],
                                                  [("out", "i32", ROWS)])),
    "adamw": dict(half="tuned", kinds="PPPPnfffff", constants=B1024, shapes=pointwise_shapes(),
                  launch=lambda n, c: ((cdiv(n, c["BLOCK"]), 1),
                                       [("both", "f32", n), ("in", "f32", n), ("both", "f32", n),
                                        ("both", "f32", n), n, 1e-3, 0.9, 0.95, 1e-8, 0.1])),
    "gemm": dict(half="tuned", kinds="PPPnnnNNN", constants=TILE, shapes=gemm_shapes(),
                 launch=lambda s, c: gemm_launch(s, c, "f32")),
    "gemm_f16": dict(half="held", kinds="EEEnnnNNN", constants=TILE, shapes=gemm_shapes(),
                     launch=lambda s, c: gemm_launch(s, c, "f16")),
    "splitk": dict(half="held", kinds="PPPnnnNNNn", constants=TILE, shapes=gemm_shapes(),
                   launch=lambda s, c: gemm_launch(s, c, "f32", "sum", [2], 2)),
    "partials": dict(half="tuned", kinds="PPnNn", constants=B1024, shapes=pointwise_shapes(),
                     launch=lambda n, c: ((cdiv(n, c["BLOCK"]), 1),
                                          [("in", "f32", 5 * 4096), ("out", "f32", n), n, 4096, 5])),
    "attention": dict(half="held", kinds="HHHHPnf", constants={"BM": 32, "BN": 32, "D": 32},
                      shapes={"tile": 128, "tile-1": 127, "tile+1": 129},
                      launch=lambda n, c: ((2, 1), [
                          ("in", "bf16", 64 * 32), ("in", "bf16", n * 32), ("in", "bf16", n * 32),
                          ("out", "bf16", 64 * 32), ("out", "f32", 64), n, 0.17677669])),
    "dot_atomic": dict(half="tuned", kinds="PPPnNn", constants={"BLOCK": 64}, shapes=row_shapes(),
                       launch=lambda w, c: ((ROWS, 4), [full("in", "f32", 528), ("in", "f32", 512),
                                                        ("sum", "f32", ROWS), w, 528, 4])),
}
INPUTS = ["gauss", "positive", "alternating"]

# ---- pairs ----
PAIRS = {}


def pair(kind, change, family, *edits, ptx=(), constants=None, ptxas=False, warps=None, flags=(),
         triton=None, fast=False, miss=None, bucket=None):
    """
    One row. edits: (old, new) in the family's source, same number of lines; ptx: (pattern, new,
    count) on B's PTX; constants: other block sizes for B; ptxas: B assembled by another ptxas (says
    nothing on the software device); warps: B compiled for as many, under A's identity; flags: of
    NVRTC for B; triton: B compiled by the Triton of that version. miss: why today's rules give another bucket than they should.
    """
    name = f"{kind}_{family}_{change}".replace("-", "_")
    assert name not in PAIRS and len(name) < 64, name
    PAIRS[name] = dict(name=name, kind=kind, change=change, family=family, edits=edits, ptx=ptx,
                       constants=constants or {}, ptxas=ptxas, warps=warps, flags=list(flags),
                       triton=triton, fast=fast, miss=miss,
                       expected=bucket or ([3] if kind == "bug" else [1, 2]))


def benign(change, family, *edits, **options):
    pair("benign", change, family, *edits, **options)


def bug(change, family, *edits, **options):
    pair("bug", change, family, *edits, **options)


UNFUSED = [(r"\b(mul|add|sub)\.f32\b", r"\1.rn.f32", None)]
EXACT_DIVISION = [(r"\bdiv\.full\.f32\b", "div.rn.f32", None)]
LOAD_ROW = "v = tl.load(x + row * pitch + col, mask=mask, other=%s)"

# Families of which these versions of Triton make other PTX than 3.6.0 does.
TRITON_FAMILIES = [f for f, row in FAMILIES.items() if "cuda" not in row]
AS_IN_3_4 = ("pointwise", "chain_bf16", "gelu_f16", "clamp_max", "adamw")
AS_IN_3_5 = (*AS_IN_3_4, "downcast_bf16", "downcast_f16", "quant_fp8", "quant_i8")
OTHER_TRITONS = {"3.3.1": TRITON_FAMILIES,
                 "3.4.0": [f for f in TRITON_FAMILIES if f not in AS_IN_3_4],
                 "3.5.1": [f for f in TRITON_FAMILIES if f not in AS_IN_3_5],
                 "3.9.0": [f for f in TRITON_FAMILIES if f != "argmax"]}

# Benign: contraction of a * b + c.
benign("unfused", "pointwise", ptx=UNFUSED, fast=True)
benign("unfused", "adamw", ptx=UNFUSED, fast=True)
benign("unfused", "layernorm_bwd", ptx=UNFUSED)
benign("unfused", "gelu_f16", ptx=UNFUSED)
# Approximations of one function.
benign("exact-division", "softmax", ptx=EXACT_DIVISION, fast=True)
benign("exact-division", "chain_bf16", ptx=EXACT_DIVISION)
benign("exact-division", "quant_fp8", ptx=EXACT_DIVISION)
benign("exact-exp", "softmax", ("tl.exp(v - top)", "libdevice.exp(v - top)"), fast=True)
benign("exact-exp", "pointwise", ("tl.exp(-b)", "libdevice.exp(-b)"))
benign("exact-exp", "softmax_f16", ("tl.exp(v - top)", "libdevice.exp(v - top)"))
benign("exact-exp", "xent", ("tl.exp(v - top)", "libdevice.exp(v - top)"), fast=True)
benign("exact-rsqrt", "layernorm", ("tl.rsqrt(var + eps)", "1.0 / tl.sqrt_rn(var + eps)"))
benign("exact-rsqrt", "rmsnorm", ("tl.rsqrt(square + eps)", "1.0 / tl.sqrt_rn(square + eps)"),
       fast=True)
benign("libdevice-tanh", "gelu_f16", ("1.0 - 2.0 / (1.0 + tl.exp(2.0 * u))", "libdevice.tanh(u)"))
benign("sqrt-rn", "adamw", ("tl.sqrt(vi)", "tl.sqrt_rn(vi)"))
# Another order of the same sum.
benign("reversed-k", "gemm", ("k = step * BK", "k = (steps - 1 - step) * BK"), fast=True)
benign("reversed-k", "gemm_f16", ("k = step * BK", "k = (steps - 1 - step) * BK"))
benign("block-k-16", "gemm", constants={"BK": 16})
benign("block-k-16", "gemm_f16", constants={"BK": 16}, fast=True)
benign("block-k-64", "gemm_f16", constants={"BK": 64})
benign("sum-of-tiles", "gemm", ("acc = tl.dot(ta, tb, acc,", "acc += tl.dot(ta, tb,"))
benign("tf32x3", "gemm", ('"ieee"', '"tf32x3"'), fast=True)
benign("reversed", "colsum", ("row = step * BR", "row = (steps - 1 - step) * BR"), fast=True)
benign("tile-of-64", "colsum", constants={"BR": 64})
benign("atomic-order", "colsum_atomic",
       ("block = tl.program_id(1)", "block = tl.num_programs(1) - 1 - tl.program_id(1)"), fast=True)
benign("atomic-order", "splitk",
       ("first = place % slices", "first = slices - 1 - place % slices"))
benign("atomic-order", "dot_atomic",
       ("place = tl.program_id(1)", "place = parts - 1 - tl.program_id(1)"))
benign("twice-the-parts", "dot_atomic",
       ("tl.atomic_add(y + row, tl.sum(acc, axis=0))",
        "tl.atomic_add(y + row + tl.zeros((2,), tl.int32), "
        "tl.sum(tl.reshape(acc, (2, BLOCK // 2)), axis=1))"), fast=True)
benign("reversed", "partials", ("x + s * pitch", "x + (slices - 1 - s) * pitch"))
benign("by-halves", "softmax",
       ("total = tl.sum(e, axis=0)",
        "total = tl.sum(tl.sum(tl.reshape(e, (2, BLOCK // 2)), axis=0), axis=0)"))
benign("one-pass", "layernorm",
       ("var = tl.sum(d * d, axis=0) / width", "var = tl.sum(v * v, axis=0) / width - mu * mu"))
benign("centred-twice", "layernorm",
       ("var = tl.sum(d * d, axis=0) / width",
        "e = tl.sum(d, axis=0) / width; var = tl.sum(d * d, axis=0) / width - e * e"))
benign("serial-blocks", "cumsum",
       ("out = tl.cumsum(v, axis=0)",
        "w = tl.reshape(v, (BLOCK // 16, 16)); s = tl.sum(w, axis=1); "
        "out = tl.reshape(tl.cumsum(w, axis=1) + (tl.cumsum(s, axis=0) - s)[:, None], (BLOCK,))"))
benign("block-n-16", "attention", constants={"BN": 16}, fast=True)
benign("block-n-64", "attention", constants={"BN": 64})
# Roundings between the steps.
benign("cast-elision", "chain_bf16", ("t = t.to(tl.bfloat16).to(tl.float32)", "t = t"), fast=True)
benign("log2-softmax", "attention",
       ("p = tl.exp(s - new[:, None])", "p = tl.exp2((s - new[:, None]) * 1.4426950408889634)"))
# Another layout of the same work.
for warps in (1, 2, 8):
    benign(f"warps-{warps}", "gemm_f16", warps=warps)
    benign(f"warps-{warps}", "layernorm", warps=warps)
benign("warps-8", "softmax", warps=8, fast=True)
benign("warps-2", "colsum", warps=2)
# m16n8k16 as two of k 8: a and b hold k 0 to 7 in their first half.
MMA = (r"mma\.sync\.aligned\.m16n8k16(\.row\.col\.f32\.f16\.f16\.f32)\s*(\{[^}]*\}),\s*"
       r"\{([^,}]*),([^,}]*),([^,}]*),([^,}]*)\},\s*\{([^,}]*),([^,}]*)\},\s*(\{[^}]*\});")
benign("mma-k8", "gemm_f16", ptx=[(MMA, r"mma.sync.aligned.m16n8k8\1 \2, {\3,\4}, {\7}, \9;\n"
                                   r"\tmma.sync.aligned.m16n8k8\1 \2, {\5,\6}, {\8}, \2;", None)])
benign("twice-the-slices", "splitk",  # each program adds two partial sums
       ("    acc = tl.zeros((BM, BN), tl.float32)\n    steps = tl.cdiv(K, BK)\n",
        "    mask = (m[:, None] < M) & (n[None, :] < N); steps = tl.cdiv(K, BK)\n"
        "    acc = tl.zeros((BM, BN), tl.float32); half = steps // 2\n"),
       ("        ma = (m[:, None] < M) & (k[None, :] < K)\n",
        "        ma = (m[:, None] < M) & (k[None, :] < K); late = step >= half\n"),
       ("        acc = tl.dot(ta, tb, acc, input_precision=\"ieee\")\n"
        "    mask = (m[:, None] < M) & (n[None, :] < N)\n",
        "        part = tl.dot(ta, tb, input_precision=\"ieee\"); acc += tl.where(late, 0.0, part)\n"
        "        tl.atomic_add(c + m[:, None] * ldc + n[None, :], part, mask=mask & late)\n"))
# Another Triton.
for version, families in OTHER_TRITONS.items():
    for family in families:
        benign(f"triton-{version.replace('.', '-')}", family, triton=version)
# CUDA C by NVRTC.
benign("no-fma", "cu_softmax", flags=["-fmad=false"])
benign("fast-math", "cu_softmax", flags=["--use_fast_math"], fast=True)
benign("exact-exp", "cu_softmax", ("EXP(x) __expf(x)", "EXP(x) expf(x)"))
benign("serial-sum", "cu_softmax",
       ("if (t < s) shared[t] += shared[t + s];",
        "if (t == 0 && s == 1) for (int i = 1; i < THREADS; i++) shared[0] += shared[i];"))
benign("no-fma", "cu_gemm", flags=["-fmad=false"])
benign("reversed-k", "cu_gemm", ("int k = step * 16;", "int k = (steps - 1 - step) * 16;"))
benign("two-accumulators", "cu_gemm",
       ("for (int i = 0; i < 16; i++) acc += ta[r][i] * tb[i][q];",
        "real odd = 0; for (int i = 0; i < 16; i += 2) { acc += ta[r][i] * tb[i][q]; "
        "odd += ta[r][i + 1] * tb[i + 1][q]; } acc += odd;"))
benign("no-fma", "cu_rmsnorm", flags=["-fmad=false"])
benign("fast-math", "cu_rmsnorm", flags=["--use_fast_math"])
benign("exact-rsqrt", "cu_rmsnorm", ("rsqrt(square + eps)", "1.0f / sqrtf(square + eps)"))
# An integer output.
benign("exact-division", "quant_i8", ptx=EXACT_DIVISION)
# The assembler alone.
benign("ptxas-13", "gemm", ptxas=True)
benign("ptxas-13", "softmax", ptxas=True)
benign("ptxas-13", "gemm_f16", ptxas=True)
for family in ("layernorm", "layernorm_bwd", "attention", "xent", "cumsum", "adamw", "splitk",
               "gelu_f16", "quant_fp8"):
    benign("ptxas-13", family, ptxas=True)
for family in ("pointwise", "chain_bf16", "clamp_max", "downcast_bf16", "downcast_f16", "quant_i8",
               "softmax_f16", "rmsnorm", "colsum", "colsum_atomic", "argmax", "partials", "dot_atomic"):
    benign("ptxas-13", family, ptxas=True)

# Bugs: masks and tails.
bug("store-mask", "pointwise", ("tl.store(z + i, out, mask=mask)", "tl.store(z + i, out)"), fast=True)
bug("store-mask", "downcast_f16", ("tl.store(y + i, out, mask=mask)", "tl.store(y + i, out)"))
bug("load-other", "softmax", (LOAD_ROW % '-float("inf")', LOAD_ROW % "0.0"), fast=True)
bug("load-other", "xent", (LOAD_ROW % '-float("inf")', LOAD_ROW % "0.0"))
bug("load-other", "argmax", (LOAD_ROW % '-float("inf")', LOAD_ROW % 'float("inf")'))
bug("nan-times-zero", "layernorm",
    (LOAD_ROW % "0.0", LOAD_ROW.replace("v =", "v = mask.to(tl.float32) *") % 'float("nan")'))
bug("nan-times-zero", "colsum",
    ("mask=mask, other=0.0)", 'mask=mask, other=float("nan")) * mask.to(tl.float32)'))
bug("tail-of-16", "gemm", ("ma = (m[:, None] < M) & (k[None, :] < K)",
                           "ma = (m[:, None] < M) & (k[None, :] < (K - 1) // 16 * 16)"), fast=True)
bug("tail-of-1", "gemm", ("ma = (m[:, None] < M) & (k[None, :] < K)",
                          "ma = (m[:, None] < M) & (k[None, :] < K - 1)"))
bug("tail-of-1", "gemm_f16", ("ma = (m[:, None] < M) & (k[None, :] < K)",
                              "ma = (m[:, None] < M) & (k[None, :] < K - 1)"))
bug("tail-of-1", "attention", ("s = tl.where(n[None, :] < N,", "s = tl.where(n[None, :] < N - 1,"))
bug("tail-of-1", "rmsnorm", ("mask=mask, other=0.0)", "mask=col < width - 1, other=0.0)"))
bug("last-tile", "gemm", ("steps = tl.cdiv(K, BK)", "steps = tl.cdiv(K, BK) - 1"))
bug("last-tile", "colsum", ("steps = tl.cdiv(rows, BR)", "steps = rows // BR"), fast=True)
bug("last-tile", "attention", ("steps = tl.cdiv(N, BN)", "steps = N // BN"), fast=True)
bug("first-twice", "gemm", ("for step in range(0, steps):\n        k = step * BK",
                            "for step in range(-1, steps):\n        k = tl.maximum(step, 0) * BK"))
bug("first-twice", "colsum", ("for step in range(0, steps):\n        row = step * BR",
                              "for step in range(-1, steps):\n"
                              "        row = tl.maximum(step, 0) * BR"))
bug("first-twice", "partials", ("range(0, slices)", "range(-1, slices)"),
    ("x + s * pitch", "x + tl.maximum(s, 0) * pitch"))
# Shared memory, layouts, stages.
BARRIER = r"\tbar\.sync[^;]*;\n"
bug("barrier", "softmax", ptx=[(BARRIER, "", None)], fast=True)
bug("barrier", "gemm", ptx=[(BARRIER, "", None)])
bug("barrier", "colsum", ptx=[(BARRIER, "", None)])
bug("uninitialised-shared", "layernorm", ptx=[(r"\t(@%p\d+ )?st\.shared[^;]*;\n", "", 1)])
bug("uninitialised-shared", "gemm_f16", ptx=[(r"\t(@%p\d+ )?st\.shared[^;]*;\n", "", 1)])
SHUFFLE = r"(shfl\.sync\.bfly\.b32[^;]*, )"
bug("reduction-layout", "softmax",  # the sum's: the maximum's only moves the shift
    ptx=[(r"(?s)(" + SHUFFLE + "16, 31.*?" + SHUFFLE + ")16, 31", r"\g<1>8, 31", 1)])
bug("reduction-layout", "rmsnorm", ptx=[(SHUFFLE + "16, 31", r"\g<1>8, 31", 1)], fast=True)
bug("stage-off-by-one", "gemm", ("tl.load(b + k[:, None] * ldb",
                                 "tl.load(b + tl.maximum(k[:, None] - BK, 0) * ldb"))
bug("stale-tile", "gemm_f16", ("tl.load(a + m[:, None] * lda + k[None, :]",
                               "tl.load(a + m[:, None] * lda + (k - step % 2 * BK)[None, :]"))
bug("wrong-swizzle", "gemm", ("tl.load(b + k[:, None] * ldb", "tl.load(b + (k ^ 8)[:, None] * ldb"),
    ("mb = (k[:, None] < K)", "mb = ((k ^ 8)[:, None] < K)"))
bug("tile-transposed", "gemm", ("ldc + n[None, :], acc,", "ldc + n[None, :], tl.trans(acc),"))
bug("stride", "gemm", ("* lda + k", "* (lda - 1) + k"), fast=True)
bug("stride", "rmsnorm", ("x + row * pitch", "x + row * (pitch - 1)"))
bug("index-overflow", "cumsum", ("x + row * pitch + col", "x + ((row * pitch + col) & 4095)"))
bug("index-overflow", "pointwise", ("tl.load(y + i, mask=mask)", "tl.load(y + (i & 2047), mask=mask)"))
# Accumulators.
bug("f16-accumulator", "gemm_f16", ("acc = tl.zeros((BM, BN), tl.float32)",
                                    "acc = tl.zeros((BM, BN), tl.float16)"),
    ("acc = tl.dot(ta, tb, acc)", "acc = tl.dot(ta, tb, acc, out_dtype=tl.float16)"))
bug("bf16-accumulator", "gemm", ('acc, input_precision="ieee")',
                                 'acc, input_precision="ieee").to(tl.bfloat16).to(tl.float32)'),
    fast=True)
bug("bf16-accumulator", "colsum", ("acc += tl.sum(t, axis=0)",
                                   "acc = (acc + tl.sum(t, axis=0)).to(tl.bfloat16).to(tl.float32)"))
bug("not-zeroed", "gemm", ("acc = tl.zeros((BM, BN), tl.float32)",
                           "acc = tl.load(c + m[:, None] * ldc + n[None, :], "
                           "mask=(m[:, None] < M) & (n[None, :] < N))"), fast=True)
bug("not-zeroed", "partials", ("acc = tl.zeros((BLOCK,), tl.float32)",
                               "acc = tl.load(y + i, mask=mask, other=0.0)"))
bug("tf32", "gemm", ('"ieee"', '"tf32"'))
bug("partial-lost", "partials", ("range(0, slices)", "range(0, slices - 1)"), fast=True)
bug("partial-lost", "splitk", ("first = place % slices", "first = place % slices + 1"))
bug("partial-twice", "splitk", ("first = place % slices", "first = 0"))
bug("plain-store", "colsum_atomic", ("tl.atomic_add(y + col, s,", "tl.store(y + col, s,"), fast=True)
bug("plain-store", "dot_atomic", ("tl.atomic_add(y + row,", "tl.store(y + row,"))
bug("plain-store", "splitk", ("tl.atomic_add(c", "tl.store(c"))
# Casts.
TRUNCATE = "(%s.to(tl.uint32, bitcast=True) >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True)"
bug("truncates", "downcast_bf16", ("out = a.to(tl.bfloat16)", "out = " + TRUNCATE % "a"), fast=True)
bug("truncates", "downcast_f16", ("out = a.to(tl.float16)", 'out = a.to(tl.float16, "rtz")'))
bug("truncates", "layernorm", ("out.to(tl.bfloat16)", TRUNCATE % "out"), fast=True)
bug("truncates", "gemm_f16", ("acc.to(tl.float16)", 'acc.to(tl.float16, "rtz")'))
bug("ties-up", "downcast_bf16",
    ("out = a.to(tl.bfloat16)", "out = ((a.to(tl.uint32, bitcast=True) + 0x8000) >> 16)"
     ".to(tl.uint16).to(tl.bfloat16, bitcast=True)"), fast=True)
bug("double-rounding", "quant_fp8", ("out = v.to(tl.float8e4nv)",
                                     "out = v.to(tl.bfloat16).to(tl.float8e4nv)"))
bug("double-rounding", "downcast_f16", ("out = a.to(tl.float16)",
                                        "out = a.to(tl.bfloat16).to(tl.float16)"))
bug("no-saturation", "quant_fp8",
    ("out = v.to(tl.float8e4nv)", 'out = tl.where(tl.abs(v) > 448.0, float("nan"), v)'
     ".to(tl.float8e4nv)"))
bug("truncates", "quant_i8", ("libdevice.rint(a / scale)", "libdevice.trunc(a / scale)"))
bug("half-up", "quant_i8", ("libdevice.rint(a / scale)", "libdevice.floor(a / scale + 0.49)"))
bug("scale-skew", "quant_i8", ("a / scale", "a / (scale * 1.0009765625)"))
bug("wraps", "quant_i8", ("v = tl.minimum(tl.maximum(v, -127.0), 127.0)",
                          "v = v - 256.0 * libdevice.floor((v + 128.0) / 256.0)"))
bug("truncates", "cu_rmsnorm", ("cvt.rn.bf16.f32", "cvt.rz.bf16.f32"))
# CUDA C.
bug("barrier", "cu_softmax",
    ("if (t < s) shared[t] += shared[t + s];\n\t\t__syncthreads();",
     "if (t < s) shared[t] += shared[t + s];"))
bug("no-max", "cu_softmax", ("EXP(row[i] - top)", "EXP(row[i])"))
bug("tail-of-1", "cu_softmax", ("i < width; i += THREADS) total", "i < width - 1; i += THREADS) total"))
bug("barrier", "cu_gemm", ("acc += ta[r][i] * tb[i][q];\n\t\t__syncthreads();",
                           "acc += ta[r][i] * tb[i][q];"))
bug("tail-of-1", "cu_gemm", ("k + q < K ?", "k + q < K - 1 ?"))
bug("last-tile", "cu_gemm", ("int steps = (K + 15) / 16;", "int steps = K / 16;"))
bug("bf16-operands", "cu_gemm", ("acc += ta[r][i] * tb[i][q];",
                                 "acc += widen(rounded(ta[r][i])) * widen(rounded(tb[i][q]));"))
bug("stride", "cu_gemm", ("c[m * ldc + n]", "c[m * (ldc - 1) + n]"))
bug("epsilon", "cu_rmsnorm", ("square + eps", "square"))
bug("scale-skew", "cu_rmsnorm", ("r * gamma[i]", "r * gamma[i] * 1.0009765625f"))
bug("tail-of-1", "cu_rmsnorm", ("i < width; i += THREADS) square", "i < width - 1; i += THREADS) square"))
# Semantics.
bug("nan-propagation", "clamp_max", ("PropagateNan.ALL", "PropagateNan.NONE"))
bug("tie-break", "argmax", ("tl.argmax(v, axis=0)", "BLOCK - 1 - tl.argmax(tl.flip(v, 0), axis=0)"))
# Where a row has a NaN, Triton 3.9.0 differs from 3.6.0 twice. A thread joins its four elements in
# pairs, no longer one after the other: 5 0 NaN 1 0 ... gives 0, was 3, on any device; no row of the
# inputs here shows it. All lanes of a warp store their result to one address, no longer lane 0
# alone, and whose value stays is open: on an H200 lane 0's, on the software device lane 31's.
bug("triton-3-9-0", "argmax", triton="3.9.0")
bug("scale-twice", "attention", ("tl.dot(tq, tl.trans(tk)) * scale",
                                 "tl.dot(tq, tl.trans(tk)) * scale * scale"))
bug("scale-twice", "pointwise", ("a * scale * s", "a * scale * scale * s"))
SKEW = " * 1.0009765625"
bug("scale-skew", "pointwise", ("out = a * scale * s + a * b", "out = (a * scale * s + a * b)" + SKEW),
    fast=True)
bug("scale-skew", "gelu_f16", ("out = 0.5 * a * (1.0 + t)", "out = 0.5 * a * (1.0 + t)" + SKEW))
bug("scale-skew", "chain_bf16", ("out = t / (1.0 + tl.exp(-t))", "out = t / (1.0 + tl.exp(-t))" + SKEW))
bug("scale-skew", "layernorm", ("out.to(tl.bfloat16)", f"(out{SKEW}).to(tl.bfloat16)"))
bug("epsilon", "layernorm", ("var + eps", "var"))
bug("epsilon", "rmsnorm", ("square + eps", "square"))
bug("epsilon", "adamw", ("(tl.sqrt(vi) + eps)", "tl.sqrt(vi)"))
bug("no-max", "softmax", ("e = tl.exp(v - top)", "e = tl.exp(v)"))
bug("no-max", "xent", ("tl.log(tl.sum(tl.exp(v - top), axis=0)) + top",
                       "tl.log(tl.sum(tl.exp(v), axis=0))"))
bug("learning-rate", "adamw", ("step = lr * mi", "step = 1.001 * lr * mi"))
bug("no-decay", "adamw", ("p = p - lr * decay * p", "p = p"), fast=True)
