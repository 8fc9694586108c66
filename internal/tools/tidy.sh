#!/bin/sh
# Runs go mod tidy in the directories of modules, each alone, without go.work. The
# modules of the workspace replace nothing: a copy of their go.mod does, so that they
# need not be published.
set -eu
GO=${GO:-go}
GOWORK=off
export GOWORK
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for dir in . cmd kube; do
	echo "$(awk '$1 == "module" { print $2 }' $dir/go.mod) $root/$dir"
done >"$tmp/ours"
for m in "$@"; do
	cd "$root"
	if [ -z "$(find "$m" -name '*.go' -print -quit)" ]; then continue; fi
	echo "== go mod tidy $m"
	cd "$root/$m"
	if grep -q '^replace' go.mod; then
		$GO mod tidy
		continue
	fi
	cp go.mod go.sum "$tmp"
	while read -r path dir; do $GO mod edit -replace="$path=$dir" "$tmp/go.mod"; done <"$tmp/ours"
	$GO mod tidy -modfile="$tmp/go.mod"
	while read -r path dir; do $GO mod edit -dropreplace="$path" "$tmp/go.mod"; done <"$tmp/ours"
	cp "$tmp/go.mod" "$tmp/go.sum" .
done
