# SPDX-License-Identifier: MIT
"""The shim exports the WRAPPED rows of the driver table, dlsym, dlvsym, and the glue's hash; needs nothing but libc."""
import re
import subprocess
import sys

shim, entries = sys.argv[1:3]
problems = []
table = re.findall(r"\bE\((\w+),\s*\w+,\s*WRAPPED\)", open(entries, encoding="utf-8").read())
names = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", shim], check=True,
                       capture_output=True, text=True).stdout
exported = {line.split()[0].split("@")[0] for line in names.splitlines()}
wanted = {*table, "dlsym", "dlvsym", "kernelab_image_id"}
if len(table) < 10:
    problems.append(f"only {len(table)} WRAPPED rows in {entries}")
if exported != wanted:
    problems.append(f"exported: too many {sorted(exported - wanted)}, missing {sorted(wanted - exported)}")
dynamic = subprocess.run(["readelf", "-dW", shim], check=True, capture_output=True, text=True).stdout
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
allowed = r"(libc|libdl|libpthread|libasan|libubsan|libgcc_s|libm)\.so\.\d+|ld-linux.*"
for library in needed:
    if not re.fullmatch(allowed, library):
        problems.append(f"needs {library}")
undefined = subprocess.run(["nm", "-D", "--undefined-only", "--format=posix", shim], check=True,
                           capture_output=True, text=True).stdout
for line in undefined.splitlines():
    if re.match(r"cu[A-Z]|dlv?sym\b", line):
        problems.append(f"refers to {line.split()[0]} of others")
print("\n".join(problems))
sys.exit(bool(problems))
