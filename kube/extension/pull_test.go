package extension

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// A slowSource delivers bundles once deliver is closed, and counts the images that are being read.
type slowSource struct {
	deliver       chan struct{}
	reading, most int
}

func (s *slowSource) Bundle(ctx context.Context, image string) (*registryv1.Bundle, error) {
	s.reading++
	s.most = max(s.most, s.reading)
	defer func() { s.reading-- }()
	select {
	case <-s.deliver:
		return &registryv1.Bundle{Package: image}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A slow registry holds no worker, and few of its images are read at the same time.
func TestPulls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSource{deliver: make(chan struct{})}
		x := &Rollouts{Bundles: s}
		read := func(extension, image string) (*registryv1.Bundle, error) {
			return x.pull(t.Context(), x.knowledge(extension), image)
		}
		start := time.Now()
		for pass := range 10 {
			for i := range 20 {
				if _, err := read(fmt.Sprint("e", i), fmt.Sprintf("slow.example/b:%d", i)); !errors.Is(err, errBusy) {
					t.Fatalf("pass %d: %v", pass, err)
				}
			}
		}
		if held := time.Since(start); held != maxPulls*firstWait || s.most != maxPulls {
			t.Errorf("it held the workers for %v, and read %d images at the same time", held, s.most)
		}
		if _, err := read("other", "other.example/b:1"); !errors.Is(err, errBusy) || s.reading != maxPulls+1 {
			t.Errorf("another registry waits: %v", err)
		}
		x.forget("e0")
		if synctest.Wait(); s.reading != maxPulls {
			t.Errorf("the image of a deleted extension is still being read")
		}
		if _, err := read("e1", "other.example/b:2"); !errors.Is(err, errBusy) || s.reading != maxPulls {
			t.Errorf("an unneeded image is still being read: %v, %d", err, s.reading)
		}
		close(s.deliver)
		synctest.Wait()
		if b, err := read("e2", "slow.example/b:2"); err != nil || b.Package != "slow.example/b:2" {
			t.Errorf("%v, %v", b, err)
		}
		x.forget("e1")
		x.forget("e2")
		x.forget("other")
	})
}
