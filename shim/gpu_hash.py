# SPDX-License-Identifier: MIT
"""Prints the kernel of shim/gpu_hash.c as a C string; with --ptx as PTX. What it computes: shim/nh.h.

A block of 256 threads hashes one piece of memory, thread t the column t. The keys of a row are ten
words, of which the next row shares six: a row loads four. Eight rows at a time, so that their
data is under way at once.
"""
import sys

ROWS = 8
FIRST, SECOND = 264, 2056  # words of the keys
ROW_BYTES = 256 * 16


def vector(names):
    return "{" + ", ".join(names) + "}"


def load_row(k, address):
    """The last four of a row's ten key words."""
    return f"ld.global.v4.u32 {vector(k[6:])}, [{address}];"


def process(m, k):
    """One vector of four words into the sums %s0 … %s3."""
    lines = []
    for i in range(4):
        for pair in (0, 2):
            lines += [f"add.u32 %a, {m[pair]}, {k[2 * i + pair]};", f"add.u32 %b, {m[pair + 1]}, {k[2 * i + pair + 1]};",
                      f"mad.wide.u32 %s{i}, %a, %b, %s{i};"]
    return lines


def rows():
    """ROWS whole rows: their keys are words 0 … 9, 4 … 13, and so on of a list."""
    lines = [f"ld.global.v4.u32 {vector([f'%m{4 * u + w}' for w in range(4)])}, [%p+{u * ROW_BYTES}];"
             for u in range(ROWS)]
    k = [f"%k{i}" for i in range(4 * ROWS + 6)]
    for u in range(ROWS):
        lines += [load_row(k[4 * u:4 * u + 10], f"%keys+{16 * u + 32}")]
        lines += process([f"%m{4 * u + w}" for w in range(4)], k[4 * u:4 * u + 10])
    return lines + [f"mov.u32 %k{i}, {k[4 * ROWS + i]};" for i in range(6)]


def one_row(loaded):
    k = [f"%k{i}" for i in range(10)]
    return loaded + [load_row(k, "%keys+32")] + process(["%m0", "%m1", "%m2", "%m3"], k) + [
        f"mov.u32 %k{i}, %k{i + 4};" for i in range(6)]


def second():
    """The sums as eight words of the second message; the warp's sums of it in %d0 … %d3 of each lane."""
    lines = ["mul.wide.u32 %x, %t, 32;", "add.u64 %keys, %base, %x;"]
    lines += [f"ld.global.v4.u32 {vector([f'%k{4 * u + w}' for w in range(4)])}, [%keys+{4 * FIRST + 16 * u}];"
              for u in range(4)]
    lines += [f"mov.b64 {{%m{2 * p}, %m{2 * p + 1}}}, %s{p};" for p in range(4)]
    for i in range(4):
        lines += [f"mov.u64 %d{i}, 0;"]
        for p in range(4):
            lines += [f"add.u32 %a, %m{2 * p}, %k{2 * p + 2 * i};", f"add.u32 %b, %m{2 * p + 1}, %k{2 * p + 2 * i + 1};",
                      f"mad.wide.u32 %d{i}, %a, %b, %d{i};"]
    for step in (16, 8, 4, 2, 1):
        for i in range(4):
            lines += [f"mov.b64 {{%a, %b}}, %d{i};", f"shfl.sync.bfly.b32 %a, %a, {step}, 31, 0xffffffff;",
                      f"shfl.sync.bfly.b32 %b, %b, {step}, 31, 0xffffffff;", "mov.b64 %x, {%a, %b};",
                      f"add.u64 %d{i}, %d{i}, %x;"]
    return lines


def kernel():
    body = """ld.param.u64 %x, [list];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %a, %ctaid.x;
mul.wide.u32 %y, %a, 16;
add.u64 %x, %x, %y;
ld.global.v2.u64 {%p, %n}, [%x];
mul.wide.u32 %y, %a, 32;
add.u64 %out, %out, %y;
mov.u64 %base, keys;
mov.u64 %keys, %base;
mul.wide.u32 %x, %t, 16;
add.u64 %p, %p, %x;
cvt.u32.u64 %bytes, %n;
shr.u32 %vectors, %bytes, 4;
mov.u32 %v, %t;
mov.u64 %s0, 0;
mov.u64 %s1, 0;
mov.u64 %s2, 0;
mov.u64 %s3, 0;
ld.global.v4.u32 {%a, %b, %k0, %k1}, [%keys];
ld.global.v4.u32 {%k2, %k3, %k4, %k5}, [%keys+16];
""".splitlines()
    body += ["many:", f"add.u32 %a, %v, {256 * (ROWS - 1)};", "setp.ge.u32 %q, %a, %vectors;", "@%q bra one;"]
    body += rows()
    body += [f"add.u64 %p, %p, {ROWS * ROW_BYTES};", f"add.u64 %keys, %keys, {16 * ROWS};", f"add.u32 %v, %v, {256 * ROWS};",
             "bra many;"]
    body += ["one:", "setp.ge.u32 %q, %v, %vectors;", "@%q bra last;"]
    body += one_row(["ld.global.v4.u32 {%m0, %m1, %m2, %m3}, [%p];"])
    body += [f"add.u64 %p, %p, {ROW_BYTES};", "add.u64 %keys, %keys, 16;", "add.u32 %v, %v, 256;", "bra one;"]
    # The bytes behind the last whole vector, in the column that comes next.
    body += """last:
and.b32 %bytes, %bytes, 15;
setp.eq.u32 %q, %bytes, 0;
@%q bra done;
setp.ne.u32 %q, %v, %vectors;
@%q bra done;
mov.u64 %x, 0;
mov.u64 %y, 0;
mov.u32 %a, 0;
byte:
ld.global.u8 %z, [%p];
shl.b32 %b, %a, 3;
and.b32 %b, %b, 63;
shl.b64 %z, %z, %b;
setp.ge.u32 %q, %a, 8;
@%q or.b64 %y, %y, %z;
@!%q or.b64 %x, %x, %z;
add.u64 %p, %p, 1;
add.u32 %a, %a, 1;
setp.lt.u32 %q, %a, %bytes;
@%q bra byte;
mov.b64 {%m0, %m1}, %x;
mov.b64 {%m2, %m3}, %y;""".splitlines()
    body += one_row([])
    body += ["done:"] + second()
    body += """and.b32 %a, %t, 31;
setp.ne.u32 %q, %a, 0;
@%q bra add;
mov.u32 %b, partial;
add.u32 %b, %b, %t;
st.shared.u64 [%b], %d0;
st.shared.u64 [%b+8], %d1;
st.shared.u64 [%b+16], %d2;
st.shared.u64 [%b+24], %d3;
add:
bar.sync 0;
setp.ge.u32 %q, %t, 4;
@%q bra end;
mov.u32 %b, partial;
shl.b32 %a, %t, 3;
add.u32 %b, %b, %a;
mov.u64 %x, 0;""".splitlines()
    for warp in range(8):
        body += [f"ld.shared.u64 %y, [%b+{32 * warp}];", "add.u64 %x, %x, %y;"]
    body += ["mul.wide.u32 %y, %t, 8;", "add.u64 %out, %out, %y;", "st.global.u64 [%out], %x;", "end:", "ret;"]
    head = f""".version 7.0
.target sm_70
.address_size 64
.visible .global .align 16 .b32 keys[{FIRST + SECOND}];
.visible .entry kernelab_hash(.param .u64 list, .param .u64 out)
.maxntid 256, 1, 1
{{
.shared .align 8 .b8 partial[256];
.reg .pred %q;
.reg .b32 %t, %a, %b, %v, %vectors, %bytes;
.reg .b32 %m<{4 * ROWS}>;
.reg .b32 %k<{4 * ROWS + 6}>;
.reg .b64 %s<4>;
.reg .b64 %d<4>;
.reg .b64 %p, %n, %x, %y, %z, %out, %base, %keys;""".splitlines()
    return head + body + ["}"]


if "--ptx" in sys.argv:
    print("\n".join(kernel()))
else:
    print('/* SPDX-License-Identifier: MIT */\n/* Made by shim/gpu_hash.py. */\n#include "shim/gpu_hash_ptx.h"\n')
    print("const char gpu_hash_ptx[] =")
    print("\n".join(f'\t"{line}\\n"' for line in kernel()) + ";")
