#!/usr/bin/env bash
# The step of action.yml that checks a catalog. It runs in the root of the
# repository and reads its variables from there; olmkit is in $RUNNER_TEMP.
set -euo pipefail
: "${CATALOG:?names the directory of the catalog}"
: "${READING:=classic}" "${BASE:=}" "${FAIL_ON=errors lost}" "${BUNDLES:=}" "${PULL:=false}"
work=$RUNNER_TEMP/olmkit-action
olmkit=$work/olmkit
sarif=$work/olmkit.sarif
summary=$work/summary.md
report=$work/report.html

for word in $FAIL_ON; do
	case $word in
	errors | warnings | lost) ;;
	*) echo "fail-on takes errors, warnings and lost, not $word" >&2; exit 2 ;;
	esac
done

# The base is asked for the same path, and answers "no such catalog" to a path that
# it cannot hold; what looks like a new catalog would pass.
case $CATALOG/ in
/* | ../* | */../* | -*)
	echo "catalog is a directory relative to the root of the repository, such as catalogs/4.18, not $CATALOG" >&2
	exit 2
	;;
esac

# The runner takes lines of output that begin with :: for commands to it. Names in
# a catalog must not give any, so it is told to listen to nothing but the
# annotations, whose texts olmkit escapes.
deaf=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

# run calls olmkit; an answer of no is an answer, everything else ends the step.
run() {
	local code=0
	"$olmkit" "$@" || code=$?
	if [ "$code" -gt 1 ]; then exit "$code"; fi
}

# The catalog before the change, if there is one.
has_base=
bundles=("--bundles=$BUNDLES")
if [ "$PULL" = true ]; then bundles+=(--pull); fi
older=() # the catalog before the change, if it loads
judge=() # how to judge the upgrades that the change adds
if [ -n "$BASE" ]; then
	git rev-parse -q --verify "$BASE^{commit}" >/dev/null || git fetch -q --depth=1 origin "$BASE"
	rm -rf "$work/base"
	mkdir -p "$work/base"
	if git cat-file -e "$BASE:./$CATALOG" 2>/dev/null; then
		has_base=yes
		git archive "$BASE" -- "$CATALOG" | tar -x -C "$work/base"
		code=0
		"$olmkit" validate "$work/base/$CATALOG" >/dev/null 2>&1 || code=$?
		if [ "$code" -le 1 ]; then
			older=("--base=$work/base/$CATALOG")
			judge=("${older[@]}" "--reading=$READING" "${bundles[@]}")
		fi
	fi
fi

run validate "$CATALOG" "${judge[@]}" -o github
run validate "$CATALOG" "${judge[@]}" -o sarif >"$sarif"
run validate "$CATALOG" "${judge[@]}" >"$work/findings.txt"
run validate "$CATALOG" "${judge[@]}" -o json >"$work/findings.json"
read -r errors warnings < <(sed -n 's/.*"errors":\([0-9]*\),"warnings":\([0-9]*\)[,}].*/\1 \2/p' "$work/findings.json")
"$olmkit" report "$CATALOG" "${older[@]}" "--olm=$READING" "${bundles[@]}" -o html >"$report" 2>/dev/null || report=

# Text is indented, so that nothing in it can end the block.
indent() { sed 's/^/    /' "$1"; echo; }
{
	echo "## Catalog $(printf %s "$CATALOG" | tr -dc 'A-Za-z0-9._/-')"
	echo
	echo "### Findings"
	echo
	indent "$work/findings.txt"
} >"$summary"

lost=
known=yes # whether lost says all that there is to say
code=0
if [ -n "$BASE" ]; then
	{ echo "### Since the base"; echo; } >>"$summary"
	if [ -n "$has_base" ]; then
		compare=("$olmkit" diff "$work/base/$CATALOG" "$CATALOG" --reading "$READING")
		"${compare[@]}" >"$work/diff.txt" 2>&1 || code=$?
		indent "$work/diff.txt" >>"$summary"
		if [ "$code" -le 1 ]; then
			lost=$("${compare[@]}" -o json | sed -n 's/.*"lost":\([0-9][0-9]*\)}$/\1/p') || true
			: "${lost:?was not found in the output of olmkit diff}"
		else
			known=no
		fi
	else
		{ echo "The base has no such catalog."; echo; } >>"$summary"
		echo "::warning title=Nothing to compare with::The base has no catalog at the path of the input \"catalog\", so nobody was counted as lost. If the catalog was moved, compare it by hand: olmkit diff OLD NEW"
	fi
fi

echo "::stop-commands::$deaf"
cat "$summary"
echo "::$deaf::"
cat "$summary" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
{
	echo "sarif=$sarif"
	echo "summary=$summary"
	echo "report=$report"
	echo "errors=$errors"
	echo "warnings=$warnings"
	echo "lost=$lost"
} >>"${GITHUB_OUTPUT:-/dev/null}"

# A catalog with errors may be one that cannot be compared; without, it must be.
if [ "$code" -gt 1 ] && [ "$errors" = 0 ]; then exit "$code"; fi
for word in $FAIL_ON; do
	case $word in
	errors) [ "$errors" = 0 ] || exit 1 ;;
	# What does not load may have warnings that nobody saw.
	warnings) [ "$errors" = 0 ] && [ "$warnings" = 0 ] || exit 1 ;;
	# Who does not know how many lost their path does not say that nobody did.
	lost) [ "$known" = yes ] && [ "${lost:-0}" = 0 ] || exit 1 ;;
	esac
done
