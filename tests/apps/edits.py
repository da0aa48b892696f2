# SPDX-License-Identifier: MIT
"""Labelled edits of kernels.py: one controlled change each, with the verdict it must get.

make-kernels.py replaces `old` by `new` (same number of lines, so that the family's source line
stays) and compiles the edited kernel alone with side A's Triton.
test_pairs.py captures the unedited kernels as A, the edited one as B, and checks that the family
`kernel` lands in `bucket` by one of `rules`, and every other family in bucket 1. The replayed
launches are the same, so nothing but the edit can move a family.
"""

EDITS = {
    # ---- benign ----
    "benign-matmul-reversed-k": {
        "kernel": "matmul",
        "what": "the K loop runs from the last tile to the first: another order of the same sum",
        "old": "        k = step * BK + tl.arange(0, BK)\n",
        "new": "        k = (steps - 1 - step) * BK + tl.arange(0, BK)\n",
        "bucket": 2,
        "rules": ["9"],
    },
    "benign-layernorm-one-pass": {
        "kernel": "layernorm_fwd",
        "what": "variance as E[x^2] - mean^2 in place of two passes",
        "old": "    var = tl.sum(d * d, axis=0) / width\n    r = tl.rsqrt(var + eps)\n",
        "new": "    var = tl.sum(v * v, axis=0) / width - mu * mu\n    r = tl.rsqrt(var + eps)\n",
        "bucket": 2,
        "rules": ["9"],
    },
    "benign-column-sum-tree": {
        "kernel": "column_sum",
        "what": "row blocks are added from the last to the first: another order of the same sum",
        "old": "        row = step * BR + tl.arange(0, BR)\n",
        "new": "        row = (steps - 1 - step) * BR + tl.arange(0, BR)\n",
        "bucket": 2,
        "rules": ["9"],
    },
    # ---- bugs ----
    "bug-softmax-tail-mask": {
        "kernel": "softmax_xent",
        "what": "tail columns are filled with 0 in place of -inf, so they join the sum",
        "old": '    v = tl.load(logits + row * pitch + col, mask=col < classes, other=-float("inf"))\n'
               "    v +=",
        "new": "    v = tl.load(logits + row * pitch + col, mask=col < classes, other=0.0)\n"
               "    v +=",
        "bucket": 3,
        "rules": ["5"],
    },
    "bug-matmul-last-k-tile": {
        "kernel": "matmul",
        "what": "the last, partial tile of K is skipped",
        "old": "    steps = tl.cdiv(K, BK)\n",
        "new": "    steps = K // BK\n",
        "bucket": 3,
        "rules": ["4"],
    },
    "bug-gelu-store-mask": {
        "kernel": "bias_gelu",
        "what": "the store has no tail mask: what lies behind the tensor is overwritten",
        "old": "    tl.store(y + i, 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476)), mask=mask)\n",
        "new": "    tl.store(y + i, 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476)))\n",
        "bucket": 3,
        "rules": ["0"],
    },
    "bug-cast-truncates": {
        "kernel": "cast_bf16",
        "what": "the cast cuts bits off in place of rounding: at most one ulp, but half of all elements",
        "old": "    tl.store(y + i, tl.load(x + i, mask=i < n).to(tl.bfloat16), mask=i < n)\n",
        "new": "    tl.store(y + i, (tl.load(x + i, mask=i < n).to(tl.uint32, bitcast=True) >> 16)"
               ".to(tl.uint16).to(tl.bfloat16, bitcast=True), mask=i < n)\n",
        "bucket": 3,
        "rules": ["6"],
    },
}
