# SPDX-License-Identifier: MIT
"""Triton kernels of the test client: a bag-of-words classifier, forward, backward and update.

tests/apps/make-kernels.py compiles this file with two Triton versions; tests/apps/train.c runs what
comes out. Every shape has tails: no dimension is a multiple of its block. Only plain loads, FMA dots
and shuffles are used (num_stages=1, ieee dots), so that the software device's tiers T0 and T1 suffice.
"""
import triton
import triton.language as tl


@triton.jit
def cast_bf16(x, y, n, BLOCK: tl.constexpr):
    """y = bf16(x): the working copies of master weights."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n).to(tl.bfloat16), mask=i < n)


@triton.jit
def embed_fwd(table, ids, x, words, width, BLOCK: tl.constexpr):
    """x[row] = mean over a row's words of table[id]."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for t in range(words):
        word = tl.load(ids + row * words + t)
        acc += tl.load(table + word * width + col, mask=col < width, other=0.0).to(tl.float32)
    tl.store(x + row * width + col, acc / words.to(tl.float32), mask=col < width)


@triton.jit
def matmul(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b, row-major with padded rows. Autotuned over three configs."""
    pid = tl.program_id(0)
    tiles = tl.cdiv(N, BN)
    m = (pid // tiles) * BM + tl.arange(0, BM)
    n = (pid % tiles) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    steps = tl.cdiv(K, BK)
    for step in range(steps):
        k = step * BK + tl.arange(0, BK)
        ta = tl.load(a + m[:, None] * lda + k[None, :],
                     mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        tb = tl.load(b + k[:, None] * ldb + n[None, :],
                     mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(ta, tb, acc, input_precision="ieee")
    tl.store(c + m[:, None] * ldc + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def transpose(x, y, rows, cols, ldx, ldy, BR: tl.constexpr, BC: tl.constexpr):
    """y[col, row] = x[row, col]: operands of the backward products."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    col = tl.program_id(1) * BC + tl.arange(0, BC)
    v = tl.load(x + row[:, None] * ldx + col[None, :],
                mask=(row[:, None] < rows) & (col[None, :] < cols), other=0.0)
    tl.store(y + col[:, None] * ldy + row[None, :], tl.trans(v),
             mask=(col[:, None] < cols) & (row[None, :] < rows))


@triton.jit
def bias_gelu(h, bias, y, total, width, BLOCK: tl.constexpr):
    """y = gelu(h + bias), the exact form with erf."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < total
    z = tl.load(h + i, mask=mask) + tl.load(bias + i % width, mask=mask)
    tl.store(y + i, 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476)), mask=mask)


@triton.jit
def layernorm_fwd(x, gamma, beta, y, mean, rstd, width, eps, BLOCK: tl.constexpr):
    """One row a program; keeps mean and 1/deviation for the backward pass."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    v = tl.load(x + row * width + col, mask=mask, other=0.0)
    mu = tl.sum(v, axis=0) / width
    d = tl.where(mask, v - mu, 0.0)
    var = tl.sum(d * d, axis=0) / width
    r = tl.rsqrt(var + eps)
    out = d * r * tl.load(gamma + col, mask=mask) + tl.load(beta + col, mask=mask)
    tl.store(y + row * width + col, out, mask=mask)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)


@triton.jit
def softmax_xent(logits, bias, labels, loss, lse, classes, pitch, BLOCK: tl.constexpr):
    """loss[row] = log-sum-exp(z) - z[label], z = logits[row] + bias."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    v = tl.load(logits + row * pitch + col, mask=col < classes, other=-float("inf"))
    v += tl.load(bias + col, mask=col < classes, other=0.0)
    top = tl.max(v, axis=0)
    total = tl.log(tl.sum(tl.exp(v - top), axis=0)) + top
    label = tl.load(labels + row)
    tl.store(lse + row, total)
    tl.store(loss + row, total - (tl.load(logits + row * pitch + label) + tl.load(bias + label)))


@triton.jit
def xent_bwd(logits, bias, labels, lse, grad, classes, pitch, scale, BLOCK: tl.constexpr):
    """grad = (softmax(z) - onehot(label)) * scale."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < classes
    z = tl.load(logits + row * pitch + col, mask=mask) + tl.load(bias + col, mask=mask)
    hit = (col == tl.load(labels + row)).to(tl.float32)
    tl.store(grad + row * pitch + col, (tl.exp(z - tl.load(lse + row)) - hit) * scale, mask=mask)


@triton.jit
def predict(logits, bias, best, classes, pitch, BLOCK: tl.constexpr):
    """best[row] = index of the largest z."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < classes
    v = tl.load(logits + row * pitch + col, mask=mask, other=-float("inf"))
    tl.store(best + row, tl.argmax(v + tl.load(bias + col, mask=mask, other=0.0), axis=0))


@triton.jit
def loss_sum(loss, total, n, BLOCK: tl.constexpr):
    """total += sum of a block of losses, by one atomic a program."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(loss + i, mask=i < n, other=0.0), axis=0))


@triton.jit
def layernorm_bwd(dy, x, gamma, mean, rstd, dx, xhat_dy, width, BLOCK: tl.constexpr):
    """dx, and dy * xhat for the gamma gradient."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    mask = col < width
    g = tl.load(dy + row * width + col, mask=mask, other=0.0)
    v = tl.load(x + row * width + col, mask=mask, other=0.0)
    r = tl.load(rstd + row)
    xhat = tl.where(mask, (v - tl.load(mean + row)) * r, 0.0)
    wg = g * tl.load(gamma + col, mask=mask, other=0.0)
    c1 = tl.sum(xhat * wg, axis=0) / width
    c2 = tl.sum(wg, axis=0) / width
    tl.store(dx + row * width + col, (wg - (xhat * c1 + c2)) * r, mask=mask)
    tl.store(xhat_dy + row * width + col, g * xhat, mask=mask)


@triton.jit
def gelu_bwd(h, bias, dy, dh, total, width, BLOCK: tl.constexpr):
    """dh = dy * gelu'(h + bias)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < total
    z = tl.load(h + i, mask=mask) + tl.load(bias + i % width, mask=mask)
    phi = 0.5 * (1.0 + tl.erf(z * 0.7071067811865476))
    slope = phi + z * 0.3989422804014327 * tl.exp(-0.5 * z * z)
    tl.store(dh + i, tl.load(dy + i, mask=mask) * slope, mask=mask)


@triton.jit
def column_sum(x, y, rows, width, pitch, BR: tl.constexpr, BC: tl.constexpr):
    """y[col] = sum over rows of x[row, col]: bias, gamma and beta gradients."""
    col = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BC,), tl.float32)
    steps = tl.cdiv(rows, BR)
    for step in range(steps):
        row = step * BR + tl.arange(0, BR)
        acc += tl.sum(tl.load(x + row[:, None] * pitch + col[None, :],
                              mask=(row[:, None] < rows) & (col[None, :] < width), other=0.0), axis=0)
    tl.store(y + col, acc, mask=col < width)


@triton.jit
def embed_bwd(dx, ids, grad, rows, words, width, BLOCK: tl.constexpr):
    """grad[id] = sum of dx over all places of the id: one id a program, so the order is fixed."""
    word = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(rows * words):
        if tl.load(ids + i) == word:
            acc += tl.load(dx + (i // words) * width + col, mask=col < width, other=0.0)
    tl.store(grad + word * width + col, acc / words.to(tl.float32), mask=col < width)


@triton.jit
def adam(w, grad, m, v, n, lr, beta1, beta2, c1, c2, eps, BLOCK: tl.constexpr):
    """One Adam step in place; c1, c2 are the bias corrections 1 / (1 - beta^step)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(grad + i, mask=mask)
    mi = beta1 * tl.load(m + i, mask=mask) + (1.0 - beta1) * g
    vi = beta2 * tl.load(v + i, mask=mask) + (1.0 - beta2) * g * g
    step = lr * (mi * c1) / (tl.sqrt_rn(vi * c2) + eps)
    tl.store(m + i, mi, mask=mask)
    tl.store(v + i, vi, mask=mask)
    tl.store(w + i, tl.load(w + i, mask=mask) - step, mask=mask)
