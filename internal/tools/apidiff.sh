#!/bin/sh
# Compares the public API of the working tree with that of a tag or commit, and
# fails when something that others may use is gone or different. Without an
# argument it compares with the last tag.
set -eu
cd "$(dirname "$0")/../.."
ref=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$ref" ]; then
	echo "apidiff: there is no tag yet; name a commit to compare with: make apidiff REF=main~10" >&2
	exit 2
fi
module=$(go list -m)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -modfile=internal/tools/go.mod -o "$tmp/apidiff" golang.org/x/exp/cmd/apidiff

git clone -q --shared --no-checkout . "$tmp/old"
git -C "$tmp/old" checkout -q --detach "$(git rev-parse --verify "$ref^{commit}")"
(cd "$tmp/old" && "$tmp/apidiff" -m -w "$tmp/old.export" "$module")
"$tmp/apidiff" -m -w "$tmp/new.export" "$module"

# The tool notes on standard error which internal packages it passes over.
if ! "$tmp/apidiff" -m "$tmp/old.export" "$tmp/new.export" >"$tmp/all" 2>"$tmp/err"; then
	cat "$tmp/err" >&2
	exit 2
fi
"$tmp/apidiff" -m -incompatible "$tmp/old.export" "$tmp/new.export" >"$tmp/bad" 2>/dev/null
echo "The API since $ref:"
if [ -s "$tmp/all" ]; then cat "$tmp/all"; else echo "no changes"; fi
if [ -s "$tmp/bad" ]; then
	echo "apidiff: $ref had what is gone or different now; docs/compatibility.md says when that is allowed" >&2
	exit 1
fi
