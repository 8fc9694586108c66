package property

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/jsonkind"
)

// A MinorVersion is the major and minor part of an OpenShift version, the part
// that olm.maxOpenShiftVersion limits: 4.19.0 and 4.19.0-rc.1 are both 4.19. It
// is comparable.
type MinorVersion struct {
	Major, Minor uint64
}

// Compare orders versions by major, then minor. It returns -1, 0 or +1.
func (v MinorVersion) Compare(o MinorVersion) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor))
}

// Next returns the next minor version: 4.20 for 4.19.
func (v MinorVersion) Next() MinorVersion { return MinorVersion{v.Major, v.Minor + 1} }

// String returns the version as major.minor, such as "4.19".
func (v MinorVersion) String() string {
	return strconv.FormatUint(v.Major, 10) + "." + strconv.FormatUint(v.Minor, 10)
}

// ParseMinorVersion returns the major and minor part of a version. As in OLM, the
// version may begin with "v" and have a pre-release. A missing minor number is 0,
// and the patch number may be missing too.
func ParseMinorVersion(s string) (MinorVersion, error) {
	v, err := semver.ParseTolerant(s)
	if err != nil {
		return MinorVersion{}, fmt.Errorf("invalid version %.60q: want major.minor, such as 4.19", s)
	}
	return MinorVersion{v.Major, v.Minor}, nil
}

// ParseMaxOpenShiftVersion parses the value of an olm.maxOpenShiftVersion
// property, a string or number of which only major and minor matter.
//
// A number is parsed by its digits, so the minor version of 4.10 is ten. YAML
// tools that convert it to a floating-point number change it to 4.1, so authors
// should quote the version. The error is an [*Error]. Never treat an invalid
// value as no limit.
func ParseMaxOpenShiftVersion(raw json.RawMessage) (MinorVersion, error) {
	s, err := scalar(TypeMaxOpenShiftVersion, "a version such as \"4.19\"", raw)
	if err != nil {
		return MinorVersion{}, err
	}
	v, err := ParseMinorVersion(s)
	if err != nil {
		return MinorVersion{}, &Error{Type: TypeMaxOpenShiftVersion, Err: err}
	}
	return v, nil
}

// scalar returns the text of a JSON string or number.
func scalar(typ, want string, raw []byte) (string, error) {
	fail := func(format string, args ...any) (string, error) {
		return "", &Error{Type: typ, Err: fmt.Errorf(format, args...)}
	}
	if s, next, ok := scanString(raw, 0); ok && next == len(raw) && next > 2 {
		return string(s), nil
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return fail("no value; want %s", want)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	k := d.PeekKind()
	v, err := d.ReadValue()
	if err != nil {
		return "", syntaxError(typ, err)
	}
	v = v.Clone()
	if err := atEnd(d); err != nil {
		return "", syntaxError(typ, err)
	}
	switch k {
	case '0':
		return string(v), nil
	case '"':
		s, _ := jsontext.AppendUnquote(nil, v)
		if len(s) == 0 {
			return fail("empty; want %s", want)
		}
		return string(s), nil
	}
	return fail("want %s, found %s", want, jsonkind.Name(k))
}

var shapeKubeVersion = shape{TypeKubeVersion, []string{"version"}, 1}

// ParseKubeVersion parses the value of an olm.kubeversion property, such as
// {"version": "1.16.0"}, and returns the version as written. The minor and
// patch numbers may be missing. The property is meant for CEL rules; OLM itself
// ignores it. The error is an [*Error].
func ParseKubeVersion(raw json.RawMessage) (string, error) {
	f, err := shapeKubeVersion.decode(raw)
	if err != nil {
		return "", err
	}
	v := string(f[0])
	if _, err := semver.ParseTolerant(v); err != nil {
		return "", shapeKubeVersion.errorf("/version", "invalid version %.60q: want one such as 1.16.0", v)
	}
	return v, nil
}
