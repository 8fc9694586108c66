package registryv1

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/visible"
)

// A Stage is a step on the way from a bundle directory to a revision. The constants
// are in the order of the steps.
type Stage string

const (
	StageRead        Stage = "read"        // turning files into a Bundle
	StageUnsupported Stage = "unsupported" // rejecting what OLM v1 does not install
	StageConfig      Stage = "config"      // validating the configuration
	StageValidate    Stage = "validate"    // validating the bundle as a whole
	StageOptions     Stage = "options"     // validating the caller's options
	StageGenerate    Stage = "generate"    // generating objects from the bundle
	StageRevision    Stage = "revision"    // sorting objects into phases
)

// A Problem is a reason why a bundle cannot be installed.
type Problem struct {
	Stage   Stage
	Code    string  // one of the codes in the package documentation
	Subject string  // what it is about: a file, a field, a name; may be empty
	Pos     fbc.Pos // relative to the bundle directory; zero if it is in no file
	Message string
	OnlyV1  bool // classic OLM does not have this problem

	// What operator-controller reports instead, where it differs.
	peerSubject *string
	peerMessage string
	ours        bool // operator-controller does not report the problem at all
}

// String returns "file:line: message" on one line, or "configuration: message" for a problem of
// the configuration.
func (p Problem) String() string {
	switch {
	case p.Pos.IsValid():
		return p.Pos.String() + ": " + visible.Line(p.Message)
	case p.Stage == StageConfig:
		return "configuration: " + visible.Line(p.Message)
	}
	return visible.Line(p.Message)
}

// ClassicAccepts returns whether classic OLM accepts a bundle that OLM v1 refuses for these problems:
// there are some, and all of them are restrictions of OLM v1.
func ClassicAccepts(problems []Problem) bool { // K231
	return len(problems) > 0 && !slices.ContainsFunc(problems, func(p Problem) bool { return !p.OnlyV1 })
}

// An Error lists all problems that were found, in the order of stages. The list is
// never empty.
type Error struct {
	Problems []Problem

	message string // operator-controller's text, if requested
}

// Error returns the problems, one per line, or operator-controller's text if the
// caller requested that.
func (e *Error) Error() string {
	if e.message != "" {
		return e.message
	}
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Stage returns the stage of the first problem.
func (e *Error) Stage() Stage { return e.Problems[0].Stage }

// failure returns problems as an error, or nil.
func failure(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// asUpstream returns the error that operator-controller reports, with its subjects
// and text. It contains only problems of the first stage that has any. Unless that
// stage validates the configuration or the bundle, it contains only the first of
// them (K21).
func asUpstream(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	stage := problems[0].Stage
	out := make([]Problem, 0, len(problems))
	var lines []string
	for _, p := range problems {
		if p.Stage != stage {
			continue
		}
		if p.peerSubject != nil {
			p.Subject = *p.peerSubject
		}
		p.Message = cmp.Or(p.peerMessage, p.Message)
		out, lines = append(out, p), append(lines, p.Message)
		if stage != StageValidate && stage != StageConfig {
			break
		}
	}
	text := strings.Join(lines, "\n")
	if stage == StageConfig && out[0].Code != "decode" {
		if text = lines[0]; len(lines) > 1 {
			text = "multiple errors found:\n  - " + strings.Join(lines, "\n  - ")
		}
		text = "invalid ClusterExtension configuration: invalid configuration: " + text
	}
	return &Error{Problems: out, message: text}
}

// AsUpstream returns the error that operator-controller reports in place of err, and
// err itself if it is not an [*Error].
func AsUpstream(err error) error {
	if e, ok := err.(*Error); ok {
		return asUpstream(e.Problems)
	}
	return err
}

// sortProblems sorts the problems of one check by subject, code and message, and
// returns them.
func sortProblems(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return problems
}
