# SPDX-License-Identifier: MIT
"""kernelab verify on good, cut, damaged and missing bundles: output, status, never a crash."""
import os
import subprocess
import sys
import tempfile

kernelab, make = sys.argv[1:3]


def verify(*operands):
    done = subprocess.run([kernelab, "verify", *operands], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def expect(operands, status, *words):
    code, out, err = verify(*operands)
    for word in words:
        assert word in out + err, (operands, word, out, err)
    assert code == status, (operands, code, out, err)
    return out


with tempfile.TemporaryDirectory() as folder:
    capture = os.path.join(folder, "capture.klab")
    result = os.path.join(folder, "result.klab")
    subprocess.run([make, "capture", capture], check=True)
    subprocess.run([make, "result", result], check=True)
    out = expect([folder], 0, "capture.klab: good, capture, 9 records, 5 chunks",
                 "result.klab: good, result, 6 records, 2 chunks")
    assert len(out.splitlines()) == 2, out

    data = open(capture, "rb").read()
    bad = os.path.join(folder, "x.klab")
    open(bad, "wb").write(data[:-10])
    # stopped while it wrote: in the footer, in the index, in a record, right behind one
    whole = int(expect([bad], 1, "x.klab: not complete, whole up to byte", "x.klab: unfinished, capture")
                .split("up to byte ")[1].split()[0])
    expect([folder], 1, "capture.klab: good", "x.klab: unfinished")
    for size in (len(data) - 100, whole + 5, whole, 200):
        open(bad, "wb").write(data[:size])
        expect([bad], 1, "x.klab: not complete, whole up to byte", "x.klab: unfinished")
    # the same with a bit turned in the last record that is there, or rubbish behind it
    open(bad, "wb").write(data[:whole - 20] + bytes([data[whole - 20] ^ 1]) + data[whole - 19:whole])
    expect([bad], 2, "x.klab: not complete, whole up to byte", "x.klab: BAD")
    open(bad, "wb").write(data[:whole] + b"\xaa" * 500)
    expect([bad, capture], 2, "x.klab: not complete, whole up to byte", "x.klab: BAD", "capture.klab: good")
    open(bad, "wb").write(data[:70] + b"\xff" + data[71:])
    expect([bad], 2, "x.klab: damaged record at offset 64: frame checksum mismatch")
    for content, words in ((b"", "not a kernelab bundle: 0 bytes"),
                           (b"\0" * 500, "not a kernelab bundle"),
                           (os.urandom(5000), "not a kernelab bundle"),
                           (b"\x7fELF" + data, "not a kernelab bundle")):
        open(bad, "wb").write(content)
        expect([bad], 2, words)

    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    expect([empty], 2, f"no bundle in {empty}")
    expect([os.path.join(folder, "missing.klab")], 2, "missing.klab: cannot open: No such file")
    expect(["/dev/null"], 2, "/dev/null: not a file")
    expect([], 2, "no bundle given")
    fifo = os.path.join(folder, "fifo.klab")
    os.mkfifo(fifo)
    expect([fifo], 2, "not a file")
    expect(["--help"], 0, "Usage: kernelab verify")
    # standard output that takes nothing is noticed
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([kernelab, "verify", capture], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2, done
print("verify: all as expected")
