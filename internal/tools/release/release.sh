#!/bin/sh
# Builds what a release consists of, from a tag and nothing else:
#
#	release.sh VERSION DIR
#
# DIR gets an archive for each platform, with the binary, its man pages and the
# license; a bill of materials (CycloneDX) for each; and SHA256SUMS. The same tag,
# built by the same Go, gives the same bytes, on any machine and in any directory.
#
# PLATFORMS names what to build for; SBOM=no leaves out the bills of materials;
# KUBE=no does not ask for the tag of the module kube, for a rehearsal.
# It needs git, GNU tar, gzip and sha256sum.
set -eu
version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/../../.."
: "${PLATFORMS:=linux/amd64 linux/arm64 linux/ppc64le darwin/amd64 darwin/arm64 windows/amd64}"
: "${SBOM:=yes}" "${KUBE:=yes}"
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ -n "$(ls -A "$out")" ]; then
	echo "release: $out is not empty" >&2
	exit 2
fi
if ! git rev-parse -q --verify "refs/tags/$version" >/dev/null; then
	echo "release: there is no tag $version; make it first: git tag -a $version" >&2
	exit 2
fi
# The same version of kube must be one that others can use: see kube.sh.
if [ "$KUBE" = yes ]; then
	if ! git show "refs/tags/kube/$version:kube/go.mod" >"$tmp/kube.mod" 2>/dev/null; then
		echo "release: there is no tag kube/$version; make it first: make kubetag VERSION=$version" >&2
		exit 2
	fi
	module=$(awk '$1 == "module" { print $2 }' go.mod)
	if grep -q '^replace' "$tmp/kube.mod" || ! grep -Eq "^(require )?[[:space:]]*$module $version\$" "$tmp/kube.mod"; then
		echo "release: at kube/$version, kube/go.mod has to require $module $version and to replace nothing; make kubetag does that" >&2
		exit 2
	fi
fi
# A clone, so that nothing uncommitted gets in. The one commit has the one tag, so
# that the go command stamps this version and no other.
git init -q "$tmp/src"
cd "$tmp/src"
git fetch -q --depth 1 "file://$root" "refs/tags/$version:refs/tags/$version"
git -c advice.detachedHead=false checkout -q "$version"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH VERSION="$version"

(cd internal/man && go run . "$tmp/man")
gzip -n -9 "$tmp"/man/*
if [ "$SBOM" = yes ]; then
	# The bill of materials names the hash of the tool that made it.
	CGO_ENABLED=0 go build -trimpath -modfile=internal/tools/release/go.mod -o "$tmp/cyclonedx-gomod" \
		github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
fi
for platform in $PLATFORMS; do
	os=${platform%/*} arch=${platform#*/}
	name=olmkit_${version}_${os}_$arch
	dir=$tmp/$name
	exe=
	if [ "$os" = windows ]; then exe=.exe; fi
	mkdir -p "$dir/man"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch GOFLAGS= go build -trimpath -buildvcs=true -ldflags='-s -w' -o "$dir/olmkit$exe" ./cmd/olmkit
	stamped=$(go version -m "$dir/olmkit$exe" | awk '$1 == "mod" { print $3 }')
	if [ "$stamped" != "$version" ]; then
		echo "release: the binary says that it is $stamped, not $version; is the version of the form v1.2.3?" >&2
		exit 1
	fi
	cp LICENSE README.md CHANGELOG.md "$dir"
	cp "$tmp"/man/*.gz "$dir/man"
	tar -C "$tmp" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' \
		--mtime="@$SOURCE_DATE_EPOCH" -cf "$tmp/$name.tar" "$name"
	gzip -n -9 <"$tmp/$name.tar" >"$out/$name.tar.gz"
	if [ "$SBOM" = yes ]; then
		"$tmp/cyclonedx-gomod" bin -json -std -noserial -notimestamp \
			-version "$version" -output "$out/$name.cdx.json" "$dir/olmkit$exe"
	fi
done
cd "$out"
sha256sum olmkit_* >SHA256SUMS
