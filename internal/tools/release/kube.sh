#!/bin/sh
# Tags the module kube, from the tag of the root module and nothing else:
#
#	kube.sh VERSION
#
# In the repository, kube takes the root module from the directory above it. Others
# cannot: they need a require that names a published version, and "go install
# PACKAGE@VERSION" refuses a go.mod with a replace. So kube/VERSION is a commit of
# its own on top of VERSION, in which kube/go.mod requires VERSION and replaces
# nothing. It stays off the branch; Go only asks for the tag.
#
# The tag VERSION has to be pushed already: the go command downloads that version
# for its checksum. It needs git.
set -eu
version=$1
cd "$(dirname "$0")/../../.."
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! git rev-parse -q --verify "refs/tags/$version" >/dev/null; then
	echo "kube: there is no tag $version; make it first: git tag -a $version" >&2
	exit 2
fi
if git rev-parse -q --verify "refs/tags/kube/$version" >/dev/null; then
	echo "kube: the tag kube/$version exists; versions never change, take the next one" >&2
	exit 2
fi
git init -q "$tmp/src"
cd "$tmp/src"
git fetch -q --depth 1 "file://$root" "refs/tags/$version:refs/tags/$version"
git -c advice.detachedHead=false checkout -q "$version"
module=$(go list -m)
cd kube
go mod edit -dropreplace="$module" -require="$module@$version"
if ! go mod download "$module@$version" || ! go build -trimpath -mod=mod ./...; then
	echo "kube: it does not build with $module $version as it is published; is the tag pushed? git push origin $version" >&2
	exit 1
fi

cd "$root"
GIT_INDEX_FILE=$tmp/index
export GIT_INDEX_FILE
git read-tree "$version"
for file in kube/go.mod kube/go.sum; do
	git update-index --add --cacheinfo "100644,$(git hash-object -w "$tmp/src/$file"),$file"
done
commit=$(git commit-tree "$(git write-tree)" -p "$version^{commit}" -m "kube: require $version")
git tag -a -m "kube $version" "kube/$version" "$commit"
echo "kube/$version is tagged; publish it: git push origin kube/$version"
