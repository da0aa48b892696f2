# SPDX-License-Identifier: MIT
"""One small kernel, compiled by whatever Triton runs this; make_versions.sh calls it."""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_kernel(X, Y, out, n, eps, one, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n * one
    tl.store(out + i, tl.sum(tl.load(X + i, mask=m), 0) + tl.load(Y + i, mask=m) + eps, mask=m)


version = tuple(map(int, triton.__version__.split(".")[:2]))
signature = {"X": "*bf16", "Y": "*fp32", "out": "*fp32", "n": "i32", "eps": "fp32", "one": "i32"}
if version < (3, 2):
    from triton.compiler.compiler import AttrsDescriptor
    attributes = AttrsDescriptor(divisible_by_16=(0, 1, 2, 3), equal_to_1=(5,))
    source = ASTSource(add_kernel, signature, constants={6: 256, 5: 1}, attrs=attributes)
elif version < (3, 3):
    from triton.backends.compiler import AttrsDescriptor
    attributes = AttrsDescriptor.from_dict(
        {"arg_properties": {"tt.divisibility": (0, 1, 2, 3), "tt.equal_to": (5,)},
         "cls": "AttrsDescriptor"})
    source = ASTSource(add_kernel, signature, constants={"BLOCK": 256, "one": 1}, attrs=attributes)
else:
    signature.update(one="constexpr", BLOCK="constexpr")
    source = ASTSource(add_kernel, signature, constexprs={(5,): 1, (6,): 256},
                       attrs={(k,): [["tt.divisibility", 16]] for k in range(4)})
triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
