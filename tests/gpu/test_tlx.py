# SPDX-License-Identifier: MIT
"""TLX kernels of fbtriton are recognised, recorded and replayed: test_tlx.py KERNELAB FOLDER gpu|soft

FOLDER holds what fbtriton made of tests/image/kernel_tlx.py. On the software device PTX is loaded, and wgmma is left out.
Exit status 77 without a GPU.
"""
import json
import os
import sys
import tempfile

from gpu_test import HERE, finish, need_plain_shim, problems, run, skip

kernelab, folder, device = sys.argv[1:4]
if device == "gpu" and not os.path.exists("/dev/nvidiactl"):
    skip("a GPU")
need_plain_shim(kernelab)
kernels = ["tlx_ws", "tlx_cp"] + (["tlx_dot"] if device == "gpu" else [])
wanted = "tlx_ws 999000.0 500500.0\ntlx_cp 499500.0\n" + ("tlx_dot 0.0 23.9375\n" if device == "gpu" else "")


with tempfile.TemporaryDirectory() as top:
    out, result = os.path.join(top, "out"), os.path.join(top, "result.json")
    done = run(kernelab, "capture", "-o", out, "--device", device, "--", sys.executable,
               os.path.join(HERE, "tlx_client.py"), folder, "cubin" if device == "gpu" else "ptx", *kernels)
    if done.stdout != wanted:
        problems.append(f"printed {done.stdout!r}, wanted {wanted!r}")
    suite = json.loads(run(kernelab, "ls", "--json", out).stdout)
    families = {f["name"]: f for f in suite["families"]}
    if sorted(families) != sorted(kernels) or any(f["origin"] != "tlx" for f in families.values()):
        problems.append(f"families {[(n, f['origin'], f['origin_how']) for n, f in families.items()]}")
    if any(f["recorded"] != 1 or not f["args"] for f in families.values()):
        problems.append(f"recorded or described: {families}")
    run(kernelab, "diff", out, "--b", "recorded", "-o", os.path.join(top, "r.klab"), "--json", result,
        *(["--device", "soft"] if device == "soft" else []))
    if os.path.exists(result):
        for family in json.load(open(result, encoding="utf-8"))["families"]:
            print(family["name"], "bucket", family["bucket"], family["coverage"])
            if family["bucket"] != 1 or family["coverage"]["faithful"] != 1:
                problems.append(f"{family['name']}: {family}")
finish()
