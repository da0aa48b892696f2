# SPDX-License-Identifier: MIT
"""A model that AOTInductor compiles ahead of time: aoti.py build PACKAGE | run PACKAGE"""
import sys

import torch

torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(256), torch.nn.Linear(256, 512), torch.nn.Linear(512, 256)

    def forward(self, x):
        return torch.softmax(x + self.down(torch.nn.functional.gelu(self.up(self.norm(x)))), -1)


# The input of aoti_load.cpp too.
x = torch.arange(64 * 256, dtype=torch.float32).sin().reshape(64, 256).cuda()
with torch.no_grad():
    if sys.argv[1] == "build":
        torch._inductor.aoti_compile_and_package(torch.export.export(Model().cuda().eval(), (x,)), package_path=sys.argv[2])
    else:
        out = torch._inductor.aoti_load_package(sys.argv[2])(x)
        if not torch.allclose(out, Model().cuda().eval()(x), atol=1e-5):
            sys.exit("the package and the model differ")
        out = out.cpu()
        print(f"{out.double().sum().item():.9g} {out[3, 7].item():.9g}")
