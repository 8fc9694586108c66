package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// spelling is the check that has no baseline.
const spelling = "Olmkit.Spelling"

// A baseline limits how many findings a file may have.
type baseline map[string]int

// parseBaseline reads lines of a number and a file.
func parseBaseline(text []byte) (baseline, error) {
	b := baseline{}
	for line := range bytes.Lines(text) {
		number, file, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || file == "" || b[file] > 0 {
			return nil, fmt.Errorf("baseline.txt: %q is not a number and a file that has no other line", line)
		}
		b[file] = n
	}
	return b, nil
}

func (b baseline) text() []byte {
	var out bytes.Buffer
	for _, file := range slices.Sorted(maps.Keys(b)) {
		fmt.Fprintf(&out, "%d %s\n", b[file], file)
	}
	return out.Bytes()
}

// judge returns the alerts of the files that have more than the baseline says, and how
// many are in others.
func (b baseline) judge(found []alert) (bad []alert, rest int) {
	n := counts(found)
	for _, a := range found {
		switch {
		case a.check == spelling || n[a.file] > b[a.file]:
			bad = append(bad, a)
		default:
			rest++
		}
	}
	return bad, rest
}

// shrunk returns the baseline without what is not found any longer.
func (b baseline) shrunk(found []alert) baseline {
	out, n := baseline{}, counts(found)
	for file, most := range b {
		if most = min(most, n[file]); most > 0 {
			out[file] = most
		}
	}
	return out
}

func counts(found []alert) map[string]int {
	n := map[string]int{}
	for _, a := range found {
		if a.check != spelling {
			n[a.file]++
		}
	}
	return n
}

func compareAlerts(a, b alert) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column), cmp.Compare(a.check, b.check), cmp.Compare(a.message, b.message))
}
