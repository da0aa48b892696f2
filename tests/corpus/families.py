# SPDX-License-Identifier: MIT
"""Triton kernels of the labelled corpus, one family a function; table.py edits them.

Every loop, mask and cast stands on a line of its own, so that one textual edit is one fault. On
sm_90 the dots of these tile sizes become mma.sync (16-bit operands) or FMA (ieee), never wgmma.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def pointwise(x, y, z, n, scale, BLOCK: tl.constexpr):
    """z = x * scale * sigmoid(y) + x * y."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    b = tl.load(y + i, mask=mask)
    s = 1.0 / (1.0 + tl.exp(-b))
    out = a * scale * s + a * b
    tl.store(z + i, out, mask=mask)


@triton.jit
def chain_bf16(x, y, z, n, scale, BLOCK: tl.constexpr):
    """The same chain in bf16, each step rounded, as eager PyTorch does."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask).to(tl.float32)
    b = tl.load(y + i, mask=mask).to(tl.float32)
    t = (a * scale + b)
    t = t.to(tl.bfloat16).to(tl.float32)
    out = t / (1.0 + tl.exp(-t))
    tl.store(z + i, out.to(tl.bfloat16), mask=mask)


@triton.jit
def gelu_f16(x, y, n, BLOCK: tl.constexpr):
    """y = gelu(x) by tanh, f16."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask).to(tl.float32)
    u = 0.7978845608028654 * (a + 0.044715 * a * a * a)
    t = 1.0 - 2.0 / (1.0 + tl.exp(2.0 * u))
    out = 0.5 * a * (1.0 + t)
    tl.store(y + i, out.to(tl.float16), mask=mask)


@triton.jit
def clamp_max(x, y, z, n, BLOCK: tl.constexpr):
    """z = max(x, y), NaN wins."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    b = tl.load(y + i, mask=mask)
    tl.store(z + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL), mask=mask)


@triton.jit
def downcast_bf16(x, y, n, BLOCK: tl.constexpr):
    """y = bf16(x)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    out = a.to(tl.bfloat16)
    tl.store(y + i, out, mask=mask)


@triton.jit
def downcast_f16(x, y, n, BLOCK: tl.constexpr):
    """y = f16(x)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    out = a.to(tl.float16)
    tl.store(y + i, out, mask=mask)


@triton.jit
def quant_fp8(x, y, n, scale, BLOCK: tl.constexpr):
    """y = fp8 e4m3(x / scale), saturating."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    v = a / scale
    out = v.to(tl.float8e4nv)
    tl.store(y + i, out, mask=mask)


@triton.jit
def quant_i8(x, y, n, scale, BLOCK: tl.constexpr):
    """y = int8(round(x / scale)), saturating."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    v = libdevice.rint(a / scale)
    v = tl.minimum(tl.maximum(v, -127.0), 127.0)
    tl.store(y + i, v.to(tl.int8), mask=mask)


@triton.jit
def softmax(x, y, width, pitch, BLOCK: tl.constexpr):
    """One row a program."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=-float("inf"))
    top = tl.max(v, axis=0)
    e = tl.exp(v - top)
    total = tl.sum(e, axis=0)
    out = e / total
    tl.store(y + row * pitch + col, out, mask=mask)


@triton.jit
def softmax_f16(x, y, width, pitch, BLOCK: tl.constexpr):
    """One row a program, f16 in and out."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=-float("inf")).to(tl.float32)
    top = tl.max(v, axis=0)
    e = tl.exp(v - top)
    total = tl.sum(e, axis=0)
    out = e / total
    tl.store(y + row * pitch + col, out.to(tl.float16), mask=mask)


@triton.jit
def xent(x, labels, loss, lse, width, pitch, BLOCK: tl.constexpr):
    """Cross-entropy: log-sum-exp and loss of a row."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=-float("inf"))
    top = tl.max(v, axis=0)
    total = tl.log(tl.sum(tl.exp(v - top), axis=0)) + top
    label = tl.load(labels + row)
    tl.store(lse + row, total)
    tl.store(loss + row, total - tl.load(x + row * pitch + label))


@triton.jit
def layernorm(x, gamma, y, mean, rstd, width, pitch, eps, BLOCK: tl.constexpr):
    """Layer norm, bf16 out, statistics f32."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=0.0)
    mu = tl.sum(v, axis=0) / width
    d = tl.where(mask, v - mu, 0.0)
    var = tl.sum(d * d, axis=0) / width
    r = tl.rsqrt(var + eps)
    out = d * r * tl.load(gamma + col, mask=mask)
    tl.store(y + row * pitch + col, out.to(tl.bfloat16), mask=mask)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)


@triton.jit
def rmsnorm(x, gamma, y, width, pitch, eps, BLOCK: tl.constexpr):
    """RMS norm, f16."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=0.0).to(tl.float32)
    square = tl.sum(v * v, axis=0) / width
    r = tl.rsqrt(square + eps)
    out = v * r * tl.load(gamma + col, mask=mask)
    tl.store(y + row * pitch + col, out.to(tl.float16), mask=mask)


@triton.jit
def layernorm_bwd(dy, x, gamma, dx, width, pitch, BLOCK: tl.constexpr):
    """Gradient of the input; the row's statistics are computed again."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    g = tl.load(dy + row * pitch + col, mask=mask, other=0.0)
    v = tl.load(x + row * pitch + col, mask=mask, other=0.0)
    mu = tl.sum(v, axis=0) / width
    d = tl.where(mask, v - mu, 0.0)
    r = tl.rsqrt(tl.sum(d * d, axis=0) / width + 1e-5)
    xhat = d * r
    wg = g * tl.load(gamma + col, mask=mask, other=0.0)
    c1 = tl.sum(xhat * wg, axis=0) / width
    c2 = tl.sum(wg, axis=0) / width
    out = (wg - (xhat * c1 + c2)) * r
    tl.store(dx + row * pitch + col, out, mask=mask)


@triton.jit
def colsum(x, y, rows, width, pitch, BR: tl.constexpr, BC: tl.constexpr):
    """y[col] = sum over rows: a reduction to few outputs."""
    col = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BC,), tl.float32)
    steps = tl.cdiv(rows, BR)
    for step in range(0, steps):
        row = step * BR + tl.arange(0, BR)
        mask = (row[:, None] < rows) & (col[None, :] < width)
        t = tl.load(x + row[:, None] * pitch + col[None, :], mask=mask, other=0.0)
        acc += tl.sum(t, axis=0)
    tl.store(y + col, acc, mask=col < width)


@triton.jit
def colsum_atomic(x, y, rows, width, pitch, BR: tl.constexpr, BC: tl.constexpr):
    """The same over row blocks in programs of their own, by atomics into zeros."""
    col = tl.program_id(0) * BC + tl.arange(0, BC)
    block = tl.program_id(1)
    row = block * BR + tl.arange(0, BR)
    mask = (row[:, None] < rows) & (col[None, :] < width)
    t = tl.load(x + row[:, None] * pitch + col[None, :], mask=mask, other=0.0)
    s = tl.sum(t, axis=0)
    tl.atomic_add(y + col, s, mask=col < width)


@triton.jit
def cumsum(x, y, width, pitch, BLOCK: tl.constexpr):
    """Inclusive prefix sums of a row."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=0.0)
    out = tl.cumsum(v, axis=0)
    tl.store(y + row * pitch + col, out, mask=mask)


@triton.jit
def argmax(x, y, width, pitch, BLOCK: tl.constexpr):
    """Index of a row's first largest element."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * pitch + col, mask=mask, other=-float("inf"))
    tl.store(y + row, tl.argmax(v, axis=0))


@triton.jit
def adamw(w, grad, m, v, n, lr, beta1, beta2, eps, decay, BLOCK: tl.constexpr):
    """One AdamW step in place."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(grad + i, mask=mask)
    p = tl.load(w + i, mask=mask)
    mi = beta1 * tl.load(m + i, mask=mask) + (1.0 - beta1) * g
    vi = beta2 * tl.abs(tl.load(v + i, mask=mask)) + (1.0 - beta2) * g * g
    p = p - lr * decay * p
    step = lr * mi / (tl.sqrt(vi) + eps)
    tl.store(m + i, mi, mask=mask)
    tl.store(v + i, vi, mask=mask)
    tl.store(w + i, p - step, mask=mask)


@triton.jit
def gemm(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b, f32, by FMA."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    steps = tl.cdiv(K, BK)
    for step in range(0, steps):
        k = step * BK + tl.arange(0, BK)
        ma = (m[:, None] < M) & (k[None, :] < K)
        mb = (k[:, None] < K) & (n[None, :] < N)
        ta = tl.load(a + m[:, None] * lda + k[None, :], mask=ma, other=0.0)
        tb = tl.load(b + k[:, None] * ldb + n[None, :], mask=mb, other=0.0)
        acc = tl.dot(ta, tb, acc, input_precision="ieee")
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * ldc + n[None, :], acc, mask=mask)


@triton.jit
def gemm_f16(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr,
             BK: tl.constexpr):
    """c = a b, f16 operands and output, f32 accumulator in tensor cores."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    steps = tl.cdiv(K, BK)
    for step in range(0, steps):
        k = step * BK + tl.arange(0, BK)
        ma = (m[:, None] < M) & (k[None, :] < K)
        mb = (k[:, None] < K) & (n[None, :] < N)
        ta = tl.load(a + m[:, None] * lda + k[None, :], mask=ma, other=0.0)
        tb = tl.load(b + k[:, None] * ldb + n[None, :], mask=mb, other=0.0)
        acc = tl.dot(ta, tb, acc)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * ldc + n[None, :], acc.to(tl.float16), mask=mask)


@triton.jit
def splitk(a, b, c, M, N, K, lda, ldb, ldc, slices, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    """c += the product over every slices-th block of K, by atomics: programs (m, n and slice)."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    place = tl.program_id(1)
    n = place // slices * BN + tl.arange(0, BN)
    first = place % slices
    acc = tl.zeros((BM, BN), tl.float32)
    steps = tl.cdiv(K, BK)
    for step in range(first, steps, slices):
        k = step * BK + tl.arange(0, BK)
        ma = (m[:, None] < M) & (k[None, :] < K)
        mb = (k[:, None] < K) & (n[None, :] < N)
        ta = tl.load(a + m[:, None] * lda + k[None, :], mask=ma, other=0.0)
        tb = tl.load(b + k[:, None] * ldb + n[None, :], mask=mb, other=0.0)
        acc = tl.dot(ta, tb, acc, input_precision="ieee")
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.atomic_add(c + m[:, None] * ldc + n[None, :], acc, mask=mask)


@triton.jit
def partials(x, y, n, pitch, slices, BLOCK: tl.constexpr):
    """y = sum of the slices of a split-K product."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    acc = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, slices):
        acc += tl.load(x + s * pitch + i, mask=mask, other=0.0)
    tl.store(y + i, acc, mask=mask)


@triton.jit
def attention(q, k, v, o, lse, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """One tile of queries against N keys, online softmax, bf16 P."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    tq = tl.load(q + m[:, None] * D + d[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    steps = tl.cdiv(N, BN)
    for step in range(0, steps):
        n = step * BN + tl.arange(0, BN)
        tk = tl.load(k + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        tv = tl.load(v + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        s = tl.dot(tq, tl.trans(tk)) * scale
        s = tl.where(n[None, :] < N, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        old = tl.exp(top - new)
        p = tl.exp(s - new[:, None])
        total = total * old + tl.sum(p, axis=1)
        acc = acc * old[:, None]
        acc = tl.dot(p.to(tl.bfloat16), tv, acc)
        top = new
    out = acc / total[:, None]
    tl.store(o + m[:, None] * D + d[None, :], out.to(tl.bfloat16))
    tl.store(lse + m, tl.log(total) + top)


@triton.jit
def dot_atomic(x, w, y, width, pitch, parts, BLOCK: tl.constexpr):
    """y += a row times w, over every parts-th block of it, by atomics: programs (row, part)."""
    row = tl.program_id(0)
    place = tl.program_id(1)
    acc = tl.zeros((BLOCK,), tl.float32)
    for step in range(place, tl.cdiv(width, BLOCK), parts):
        col = step * BLOCK + tl.arange(0, BLOCK)
        mask = col < width
        v = tl.load(x + row * pitch + col, mask=mask, other=0.0)
        acc += v * tl.load(w + col, mask=mask, other=0.0)
    tl.atomic_add(y + row, tl.sum(acc, axis=0))
