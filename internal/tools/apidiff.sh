#!/bin/sh
# Compares the public API of the working tree, of the root module and of kube, with
# that of a tag or commit, and fails when something that others may use is gone or
# different. Without an argument it compares with the last tag of a release.
set -eu
cd "$(dirname "$0")/../.."
# Not v0, which moves, and not the tags of kube.
ref=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*.[0-9]*.[0-9]*' 2>/dev/null || true)}
if [ -z "$ref" ]; then
	echo "There is no release to compare with. To compare with a commit: make apidiff REF=main~10"
	exit 0
fi
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd internal/tools && go build -o "$tmp/apidiff" golang.org/x/exp/cmd/apidiff)
git clone -q --shared --no-checkout . "$tmp/old"
git -C "$tmp/old" checkout -q --detach "$(git rev-parse --verify "$ref^{commit}")"

rc=0
for dir in . kube; do
	if [ ! -f "$tmp/old/$dir/go.mod" ]; then continue; fi # new, or not there at all
	if [ ! -f "$dir/go.mod" ]; then
		echo "apidiff: $ref had the module in $dir, and it is gone" >&2
		rc=1
		continue
	fi
	module=$(awk '$1 == "module" { print $2 }' "$dir/go.mod")
	(cd "$tmp/old/$dir" && "$tmp/apidiff" -m -w "$tmp/old.export" "$module")
	(cd "$root/$dir" && "$tmp/apidiff" -m -w "$tmp/new.export" "$module")

	# The tool notes on standard error which internal packages it passes over.
	if ! "$tmp/apidiff" -m "$tmp/old.export" "$tmp/new.export" >"$tmp/all" 2>"$tmp/err"; then
		cat "$tmp/err" >&2
		exit 2
	fi
	"$tmp/apidiff" -m -incompatible "$tmp/old.export" "$tmp/new.export" >"$tmp/bad" 2>/dev/null
	echo "The API of $module since $ref:"
	if [ -s "$tmp/all" ]; then cat "$tmp/all"; else echo "no changes"; fi
	if [ -s "$tmp/bad" ]; then rc=1; fi
done
if [ "$rc" != 0 ]; then
	echo "apidiff: $ref had what is gone or different now; docs/compatibility.md says when that is allowed" >&2
fi
exit $rc
