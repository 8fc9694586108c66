package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// A sweeper limits the size of the cache directory. It also runs in standbys,
// whose directories hold what they read as leaders.
type sweeper struct {
	dir  string
	most int64
}

// NeedLeaderElection returns false: every replica sweeps.
func (s sweeper) NeedLeaderElection() bool { return false }

// Start sweeps every minute until the context is canceled.
func (s sweeper) Start(ctx context.Context) error {
	for {
		if err := sweep(s.dir, s.most, time.Now()); err != nil {
			log.FromContext(ctx).Info("sweeping the cache failed", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Minute):
		}
	}
}

// sweep deletes the least recently used files below dir until their total size
// does not exceed most bytes. It also deletes temporary files older than an
// hour, left by killed processes. Deleted files that are open stay readable,
// and others are fetched again.
func sweep(dir string, most int64, now time.Time) error {
	type file struct {
		name string
		size int64
		used time.Time
	}
	var files []file
	var size int64
	var faults []error
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !strings.HasSuffix(name, ".tmp"):
			files = append(files, file{name, info.Size(), info.ModTime()})
			size += info.Size()
		case now.Sub(info.ModTime()) > time.Hour:
			faults = append(faults, os.Remove(name))
		default:
			size += info.Size() // still being written
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) })
	for _, f := range files {
		if size <= most {
			break
		}
		if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
			continue
		}
		size -= f.size
	}
	return errors.Join(faults...)
}
