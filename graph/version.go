package graph

import (
	"strings"

	"github.com/blang/semver/v4"
)

// A versionRec is a version without pointers.
type versionRec struct {
	major, minor, patch uint64
	pre, build          sid // dot-separated
}

func (t *tableBuilder) version(v semver.Version) versionRec {
	pre := make([]string, len(v.Pre))
	for i, p := range v.Pre {
		pre[i] = p.String()
	}
	return versionRec{v.Major, v.Minor, v.Patch, t.id(strings.Join(pre, ".")), t.id(strings.Join(v.Build, "."))}
}

// version returns the version; without a prerelease it does not allocate.
func (t *table) version(r *versionRec) semver.Version {
	v := semver.Version{Major: r.major, Minor: r.minor, Patch: r.patch}
	if r.pre != 0 {
		for s := range strings.SplitSeq(t.str(r.pre), ".") {
			// The text is from a valid version.
			p, _ := semver.NewPRVersion(s)
			v.Pre = append(v.Pre, p)
		}
	}
	if r.build != 0 {
		v.Build = strings.Split(t.str(r.build), ".")
	}
	return v
}
