#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes tests/data/image/versions, the same kernel compiled by several Triton versions of PyPI, and
# the cubins in tests/data/image/cubins.
# Usage: make_versions.sh FOLDER-FOR-VIRTUAL-ENVIRONMENTS; needs python3 and the network, no GPU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venvs=${1:?folder for virtual environments}
out=$here/../data/image/versions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# environment, package, program
compile() {
	python=$venvs/$1/bin/python
	if [ ! -x "$python" ]; then
		python3 -m venv "$venvs/$1"
		"$python" -m pip install -q "$2" setuptools
	fi
	cp "$here/$3" "$work/$3"
	TRITON_CACHE_DIR=$work/ir-$1 "$python" "$work/$3"
	# Cubins without line info: no paths in them.
	TRITON_DISABLE_LINE_INFO=1 TRITON_CACHE_DIR=$work/cubin-$1 "$python" "$work/$3"
	mkdir -p "$out/$1"
	cp "$work/cubin-$1"/*/*.cubin "$out/$1/"
	[ "$1" != fbtriton-3.7.4 ] || cp "$work/cubin-$1"/*/*.ptx "$out/$1/"
	for file in "$work/ir-$1"/*/*.json "$work/ir-$1"/*/*.source "$work/ir-$1"/*/*.ttir \
		"$work/ir-$1"/*/*.ttgir; do
		case $file in
		*__grp__* | *'*'*) continue ;;
		esac
		sed -e "s|$work|/home/user|g" -e "s|$venvs/$1|/home/user/venv|g" "$file" \
			>"$out/$1/${file##*/}"
	done
}

for version in 3.0.0 3.2.0 3.3.1 3.4.0 3.5.1 3.9.0; do
	compile "triton-$version" "triton==$version" kernel_version.py
done
compile fbtriton-3.7.4 fbtriton==3.7.4 kernel_tlx.py

# Cubins with known parameters and memory, by the ptxas that a Triton package brings.
assemble() {
	bin=$(echo "$venvs/triton-$1"/lib/python3*/site-packages/triton/backends/nvidia/bin)
	"$bin/$2" -arch "$3" "$out/../cubins/$4.ptx" -o "$out/../cubins/$5.cubin"
}
assemble 3.3.1 ptxas sm_80 memory memory-12.4-sm_80
assemble 3.5.1 ptxas sm_90 memory memory-12.8-sm_90
assemble 3.9.0 ptxas-blackwell sm_90 memory memory-13.4-sm_90
assemble 3.9.0 ptxas-blackwell sm_100 memory memory-13.4-sm_100
assemble 3.3.1 ptxas sm_90 params params-12.4-sm_90
assemble 3.9.0 ptxas-blackwell sm_90 params params-13.4-sm_90
sed 's/0f40400000/0f40500000/' "$out/../cubins/memory.ptx" >"$work/table.ptx"
cp "$work/table.ptx" "$out/../cubins/table.ptx"
assemble 3.5.1 ptxas sm_90 table table-12.8-sm_90
rm "$out/../cubins/table.ptx"
