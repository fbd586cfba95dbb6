#!/usr/bin/env bash
# Run the pip lines of a Dockerfile's build stage in a fresh folder, as the image build would, and
# then the program that they install. Needs no Docker engine.
set -euo pipefail
dockerfile=$(realpath "$1")
source=$(dirname "$dockerfile")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/src"
sed -n '/AS build/,/^FROM [^ ]*$/s/^COPY //p' "$dockerfile" | while read -r line; do
    set -- $line
    for from in "${@:1:$#-1}"; do cp -r "$source/$from" "$work/src/"; done
done
run=$(sed -n '/AS build/,/^FROM [^ ]*$/p' "$dockerfile" |
    sed -n '/^RUN /,/[^\\]$/p' | sed 's/^RUN //; s/\\$//' | tr '\n' ' ')
while read -r default; do export "${default?}"; done < <(sed -n 's/^ARG //p' "$dockerfile")
run=${run//\/opt\/firstfault/$work/opt}
(cd "$work/src" && bash -euxc "$run")
cd "$work"
export FIRSTFAULT_CACHE_DIR="$work/cache"
"$work/opt/bin/python" -c 'import s3fs'
"$work/opt/bin/firstfault" rules check
"$work/opt/bin/firstfault" diagnose "$source"/fixtures/CUDAError/timeouts_everywhere_one_illegal_access.log
# As the image is set, beyond the container: not without tokens, which it must say.
if told=$(FIRSTFAULT_HOST=0.0.0.0 "$work/opt/bin/firstfault" serve --port 0 2>&1); then exit 1; fi
grep -q FIRSTFAULT_TOKENS <<<"$told"
