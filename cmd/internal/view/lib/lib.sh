#!/bin/sh
# Fetches the JavaScript libraries of the page into this directory, as lib.txt
# lists them, each with its licence, and checks them:
#
#	sh cmd/internal/view/lib/lib.sh
#
# A line of lib.txt is: package, version, the file in the package, its licence,
# the SHA-256 of the file here. The file is the published one without the comment
# that names a source map. Needs npm. To move to another version, change lib.txt,
# run this, and put the sum that it prints there.
set -eu
cd "$(dirname "$0")"
here=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
rc=0
while read -r package version file licence sum; do
	case $package in '' | '#'*) continue ;; esac
	name=${package##*/}
	(cd "$tmp" && npm pack --silent --ignore-scripts "$package@$version" >tarball && mkdir "$name" && tar -xzf "$(tail -n 1 tarball)" -C "$name")
	sed '/^\/\/# sourceMappingURL=/d' "$tmp/$name/package/$file" >"$here/$name.js"
	{
		printf '%s %s, %s\n\n' "$package" "$version" "$licence"
		cat "$tmp/$name/package/LICENSE"
	} >"$here/$name.LICENSE"
	got=$(sha256sum "$here/$name.js" | cut -d ' ' -f 1)
	if [ "$got" != "$sum" ]; then
		echo "$package@$version: the sum of $name.js is $got; lib.txt says $sum" >&2
		rc=1
	fi
done <lib.txt
exit $rc
