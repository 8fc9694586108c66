package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
)

// proxy writes the published modules of a tag to a directory that the go command can use with GOPROXY=file://DIR. They
// are the modules that a proxy would serve once the tag is pushed, so that a release can be built and tried before.
func proxy(version, dir string) error {
	src, remove, err := repository(root).clone("refs/tags/" + version)
	if err != nil {
		return err
	}
	defer remove()
	published, _, err := src.modules()
	if err != nil {
		return err
	}
	time, err := src.git("log", "-1", "--format=%cI")
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": version, "Time": time})
	if err != nil {
		return err
	}
	for _, m := range published {
		escaped, err := module.EscapePath(m.path())
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		goMod, err := os.ReadFile(src.file(m.dir, "go.mod"))
		if err != nil {
			return err
		}
		for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": goMod} {
			if err := os.WriteFile(filepath.Join(to, name), text, 0o666); err != nil {
				return err
			}
		}
		if err := src.pack(m, version, "HEAD", filepath.Join(to, version+".zip")); err != nil {
			return err
		}
	}
	return nil
}
