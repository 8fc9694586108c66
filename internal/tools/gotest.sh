#!/bin/sh
# Runs go test with the given flags on all packages of each module below the
# current directory. The root, which others import, is tested with the versions of its
# own go.mod, and not with those of go.work. What failed comes once more at the end,
# where the end of a long log shows it.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for m in $(find . -name go.mod -not -path '*/testdata/*' -not -path './.git/*' -exec dirname {} \; | LC_ALL=C sort); do
	work=
	if [ "$m" = . ]; then work=off; fi
	# A module that only pins tools has no packages, which go test takes for a failure.
	if packages=$(cd "$m" && GOWORK=$work ${GO:-go} list ./... 2>/dev/null) && [ -z "$packages" ]; then continue; fi
	echo "== go test $m"
	(cd "$m" && GOWORK=$work ${GO:-go} test "$@" ./... 2>&1 || echo "FAIL: go test $* in $m")
done | tee "$log"
if grep -q '^FAIL' "$log"; then
	echo
	echo "== failures"
	# The failed tests with what they printed, and packages that did not compile.
	awk '/^(==|ok|\?)/ { shown = 0 } /^ *--- FAIL|^# |^panic:|^FAIL/ { shown = 40 } shown-- > 0' "$log" | tail -n 300
	exit 1
fi
