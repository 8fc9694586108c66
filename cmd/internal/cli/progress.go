package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/visible"
)

// patience is the time before a bar appears.
const patience = time.Second

// A progress draws a bar for a load that takes a long time.
type progress struct {
	w     io.Writer
	label string
	since time.Time
	now   func() time.Time
	bar   *progressbar.ProgressBar
}

// newProgress returns nil if w is not a terminal.
func newProgress(w io.Writer, label string) *progress {
	if terminal(w) == nil {
		return nil
	}
	return &progress{w: exact(w), label: visible.Line(label), since: time.Now(), now: time.Now}
}

// update draws the progress of a load. It is a function for fbc.LoadOptions.Progress.
func (p *progress) update(at fbc.Progress) {
	if p.bar == nil {
		if at.BytesTotal == 0 || p.now().Sub(p.since) < patience {
			return
		}
		p.bar = progressbar.NewOptions64(at.BytesTotal,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.label),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	// A bar that cannot be drawn is not a reason to fail.
	_ = p.bar.Set64(at.Bytes)
}

// done removes the bar.
func (p *progress) done() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}
