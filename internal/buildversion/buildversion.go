// Package buildversion reports what a program was built from, as recorded by
// the go command.
package buildversion

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// An Info describes a build. Version is "(devel)" if it is unknown.
type Info struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitzero"`
	Go       string `json:"go"`
}

// Read returns the Info of the running program.
func Read() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = new(debug.BuildInfo)
	}
	return from(build)
}

func from(build *debug.BuildInfo) Info {
	i := Info{Version: cmp.Or(build.Main.Version, "(devel)"), Go: runtime.Version()}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Revision = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// Line returns the Info of a program as one line, such as
//
//	olmkit v1.2.0 (0123456789ab), built with go1.26.0
func (i Info) Line(program string) string {
	text := program + " " + i.Version
	if i.Revision != "" {
		text += " (" + i.Revision[:min(12, len(i.Revision))]
		if i.Modified {
			text += ", modified"
		}
		text += ")"
	}
	return fmt.Sprintf("%s, built with %s", text, i.Go)
}
