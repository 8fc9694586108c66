package buildversion

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestLine(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for want, build := range map[string]*debug.BuildInfo{
		"p (devel)": {},
		"p v1.2.0":  {Main: debug.Module{Version: "v1.2.0"}},
		"p v1.2.0 (0123456789ab)": {
			Main:     debug.Module{Version: "v1.2.0"},
			Settings: []debug.BuildSetting{setting("vcs.revision", "0123456789abcdef"), setting("vcs.modified", "false")},
		},
		"p (devel) (0123, modified)": {
			Settings: []debug.BuildSetting{setting("vcs.revision", "0123"), setting("vcs.modified", "true")},
		},
	} {
		want += ", built with " + runtime.Version()
		if got := from(build).Line("p"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if i := Read(); i.Version == "" || i.Go != runtime.Version() {
		t.Errorf("this binary is %+v", i)
	}
}
