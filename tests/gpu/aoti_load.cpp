// SPDX-License-Identifier: MIT
// A program without Python that runs an AOTInductor package: aoti_load PACKAGE; prints what aoti.py run prints.
#include <ATen/ops/arange.h>
#include <cstdio>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	at::Tensor x = at::arange(64 * 256, at::kFloat).sin().reshape({64, 256}).to(at::kCUDA);
	torch::inductor::AOTIModelPackageLoader loader(argv[1]);
	at::Tensor out = loader.run({x})[0].cpu();
	std::printf("%.9g %.9g\n", out.to(at::kDouble).sum().item<double>(), out[3][7].item<double>());
	return 0;
}
