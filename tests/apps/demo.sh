#!/bin/sh
# SPDX-License-Identifier: MIT
# Captures the training program under build A and build B of its kernels, replays and compares both.
#   demo.sh BUILD_DIR OUT_DIR [auto|gpu|soft]
# A: Triton 3.6.0. B: Triton 3.7.1 with three edited kernels, so that each bucket has a family: a sum in
# another order (benign), a dropped tail mask (bug), and in one of matmul's three configs a dropped last
# step of K (bug). OUT_DIR must not exist; it gets a/, b/ and verdict.json and verdict.html. Exit status:
# that of `kernelab diff`, 1 here, because of the bugs.
set -eu
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	echo "usage: demo.sh BUILD_DIR OUT_DIR [auto|gpu|soft]" >&2
	exit 2
fi
build=$1 out=$2 device=${3:-auto}
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data/apps
edits=$data/edits
if [ -e "$out" ]; then
	echo "demo: $out is there already" >&2
	exit 2
fi
mkdir -p "$out"
# Of an edit of all three configs one: a manifest says which images there are.
matmul=$out/edit
cp -r "$edits/bug-matmul-last-k-tile" "$matmul"
grep 'blocks=16,32,32$' "$edits/bug-matmul-last-k-tile/manifest" >"$matmul/manifest"

# capture NAME "OPTIONS" CACHES TRAIN-OPTION…: metadata is looked for in the folders CACHES.
capture() {
	name=$1 options=$2 caches=$3
	shift 3
	# shellcheck disable=SC2086
	KERNELAB_CACHE_ROOTS=$caches "$build/tools/kernelab" capture -o "$out/$name" \
		--device "$device" --context "$here/context.json" $options -- \
		"$build/tests/apps/train" --config 0 "$@"
}
echo "== training under A" >&2
capture a "" "$data/a" --kernels "$data/a"
echo "== training under B (kernels only)" >&2
capture b "--no-data" "$data/b:$edits/benign-column-sum-tree:$edits/bug-softmax-tail-mask:$matmul" \
	--kernels "$data/b" --replace "$edits/benign-column-sum-tree" \
	--replace "$edits/bug-softmax-tail-mask" --replace "$matmul"
echo "== the kernels of A" >&2
"$build/tools/kernelab" ls "$out/a"
echo "== A against B" >&2
"$build/tools/kernelab" diff "$out/a" --b "$out/b" --device "$device" --json "$out/verdict.json" \
	--html "$out/verdict.html"
