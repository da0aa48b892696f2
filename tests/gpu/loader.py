# SPDX-License-Identifier: MIT
"""Data-loader workers and Inductor's helpers beside a compiled model: loader.py fork|spawn

With TORCHINDUCTOR_AUTOTUNE_IN_SUBPROC=1 GEMM templates are tuned in processes of their own.
"""
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 512), torch.arange(64))
    loader = DataLoader(data, batch_size=16, num_workers=2, multiprocessing_context=sys.argv[1])
    layer = torch.nn.Linear(512, 256).cuda().half()

    def model(x):
        return torch.nn.functional.gelu(layer(x)).float().softmax(-1)

    fast, seen, worst = torch.compile(model, mode="max-autotune-no-cudagraphs"), 0, 0.0
    with torch.no_grad():
        for x, index in loader:
            x = x.cuda().half()
            worst = max(worst, (fast(x) - model(x)).abs().max().item())
            seen += index.sum().item()
    # Which GEMM wins may differ from run to run, and with it the last bits.
    print(seen, worst < 1e-3)


if __name__ == "__main__":
    main()
