# SPDX-License-Identifier: MIT
"""cvt of every pair of integer types, shifts by any amount, compares, against Python integers."""
import ctypes
import operator
import random
import sys

WIDTH = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}
REGISTER = {8: "%h", 16: "%h", 32: "%r", 64: "%rd"}
WIDEN = {8: "cvt.u64.u16 %rd6, %h5;", 16: "cvt.u64.u16 %rd6, %h5;", 32: "cvt.u64.u32 %rd6, %r5;",
         64: "mov.b64 %rd6, %rd5;"}
EDGES = [0, 2**64 - 1, *(2**b + d for b in (7, 8, 15, 16, 31, 32, 63) for d in (-1, 0, 1))]
COUNT = 256
OTHER = 0x80017FFF80017FFF  # what is compared with: each width has another sign
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
.reg .b64 %%rd<9>; .reg .b32 %%r<9>; .reg .b16 %%h<9>; .reg .pred %%p<3>;
ld.param.u64 %%rd1, [a]; ld.param.u64 %%rd2, [b]; mov.u32 %%r1, %%tid.x;
mul.wide.u32 %%rd3, %%r1, 8; add.s64 %%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3;
ld.global.u64 %%rd4, [%%rd1]; cvt.u32.u64 %%r4, %%rd4; cvt.u16.u64 %%h4, %%rd4;
%s
st.global.u64 [%%rd2], %%rd6;
ret;
}
"""
cuda = ctypes.CDLL(sys.argv[1])
problems = []
checked = 0


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status:
        sys.exit(f"{name}: status {status}")


def value(bits, t):
    bits &= (1 << WIDTH[t]) - 1
    return bits - (1 << WIDTH[t]) if t[0] == "s" and bits >> (WIDTH[t] - 1) else bits


class Device:
    def __init__(self):
        context = ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        draw = random.Random(7)
        self.values = EDGES + [draw.getrandbits(draw.choice((9, 17, 33, 64)))
                               for _ in range(COUNT - len(EDGES))]
        self.source, self.result = ctypes.c_uint64(), ctypes.c_uint64()
        for memory in self.source, self.result:
            call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(8 * COUNT))
        call("cuMemcpyHtoD_v2", self.source, (ctypes.c_uint64 * COUNT)(*self.values),
             ctypes.c_size_t(8 * COUNT))

    def check(self, body, want):
        """body takes %rd4, %r4 or %h4 to %rd6; want: the same on a Python integer."""
        global checked
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        results = (ctypes.c_uint64 * COUNT)()
        call("cuModuleLoadData", ctypes.byref(module), (PTX % body).encode() + b"\0")
        call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        params = (ctypes.c_void_p * 2)(ctypes.addressof(self.source), ctypes.addressof(self.result))
        call("cuLaunchKernel", function, 1, 1, 1, COUNT, 1, 1, 0, None, params, None)
        call("cuMemcpyDtoH_v2", results, self.result, ctypes.c_size_t(8 * COUNT))
        call("cuModuleUnload", module)
        for x, got in zip(self.values, results):
            checked += 1
            if got != want(x):
                problems.append(f"{body}: {x:#x} gives {got:#x}, not {want(x):#x}")


def converted(x, to, source, saturate):
    v, w = value(x, source), WIDTH[to]
    if saturate:
        low, high = (-(1 << w - 1), (1 << w - 1) - 1) if to[0] == "s" else (0, (1 << w) - 1)
        v = max(low, min(high, v))
    return value(v, to) & ((1 << max(16, w)) - 1)  # the sign goes on to the register's width


def shifted(x, t, left, amount):
    v, by = value(x, t), min(amount, WIDTH[t])
    return (v << by if left else v >> by) & ((1 << WIDTH[t]) - 1)


device = Device()
for to, to_width in WIDTH.items():
    for source, width in WIDTH.items():
        for sat in "", ".sat":
            device.check(f"cvt{sat}.{to}.{source} {REGISTER[to_width]}5, {REGISTER[width]}4; "
                         f"{WIDEN[to_width]}",
                         lambda x: converted(x, to, source, bool(sat)))
for t in "u16", "s16", "u32", "s32", "u64", "s64":
    w, r = WIDTH[t], REGISTER[WIDTH[t]]
    for amount in 0, 1, w - 1, w, w + 1, 63, 64, 255, 2**31, 2**32 - 1:
        for opcode in f"shl.b{w}", f"shr.{t}":
            device.check(f"mov.u32 %r6, {amount}; {opcode} {r}5, {r}4, %r6; {WIDEN[w]}",
                         lambda x: shifted(x, t, opcode[2] == "l", amount))
    for name in "eq", "ne", "lt", "le", "gt", "ge":
        device.check(f"mov.b64 %rd7, {OTHER:#x}; cvt.u32.u64 %r7, %rd7; cvt.u16.u64 %h7, %rd7; "
                     f"setp.{name}.{t} %p1, {r}4, {r}7; selp.u64 %rd6, 1, 0, %p1;",
                     lambda x: int(getattr(operator, name)(value(x, t), value(OTHER, t))))
for problem in problems[:20]:
    print(problem)
print(f"{checked} checked, {len(problems)} problems")
sys.exit(1 if problems else 0)
