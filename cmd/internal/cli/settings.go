package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// The settings are the flags that every command has.
type settings struct {
	color   string
	places  bool
	timeout time.Duration
	limits  limits
	images  *images
}

func (s *settings) addFlags(root *cobra.Command) {
	s.color = colorAuto
	s.images = &images{}
	f := root.PersistentFlags()
	f.Var(&choice{&s.color, []string{colorAuto, colorAlways, colorNever}}, "color", "whether to print colors; auto prints them on a terminal unless NO_COLOR is set")
	f.BoolVar(&s.places, "places", false, "show where in the catalogs the facts of an explanation are stated")
	f.Var((*duration)(&s.timeout), "timeout", "give up after a `DURATION` such as 30s; in a stream of problems, it limits the wait for each problem and the time to answer it (default never)")
	f.Var(&s.limits, "limit", "raise or lower a limit on hostile input; \"olmkit help limits\" lists them (repeatable)")
	s.images.addFlags(f)
	err := errors.Join(
		root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{colorAuto, colorAlways, colorNever}, cobra.ShellCompDirectiveNoFileComp)),
		root.RegisterFlagCompletionFunc("limit", cobra.FixedCompletions(limitNames("="), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)),
		root.RegisterFlagCompletionFunc("timeout", cobra.NoFileCompletions),
		root.MarkPersistentFlagDirname("cache-dir"),
	)
	if err != nil {
		panic("internal error: " + err.Error())
	}
}

// A timeoutError reports that --timeout was exceeded.
type timeoutError struct {
	after time.Duration
	while string // what was going on, or ""
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("gave up after %s%s; --timeout allows more", e.after, e.while)
}

// within returns a context that ends with --timeout.
func (s *settings) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.timeout, &timeoutError{after: s.timeout})
}

// timedOut replaces an error that --timeout caused with a timeoutError.
func timedOut(ctx context.Context, err error) error {
	var late *timeoutError
	if err != nil && errors.As(context.Cause(ctx), &late) && (errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		if own := (*timeoutError)(nil); errors.As(err, &own) {
			return own // it has what was going on
		}
		return late
	}
	return err
}

// timed makes --timeout limit the duration of a command. A command that answers a stream of
// problems is left alone: it applies --timeout to each answer.
func (e *env) timed(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil || cmd.Annotations[streams] != "" {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if file := cmd.Flags().Lookup("problem"); file != nil && file.Annotations[streams] != nil && file.Changed {
			return run(cmd, args)
		}
		ctx, cancel := e.within(cmd.Context())
		defer cancel()
		cmd.SetContext(ctx)
		return timedOut(ctx, run(cmd, args))
	}
}

// streams is the key of the annotation that marks commands and --problem flags that read a
// stream of problems.
const streams = "streams"

// A duration is the value of a flag.
type duration time.Duration

// String, Set and Type implement pflag.Value.
func (d *duration) String() string {
	if *d == 0 {
		return "0" // pflag shows no default for "0"
	}
	return time.Duration(*d).String()
}
func (d *duration) Type() string { return "duration" }
func (d *duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("write a number with its unit, such as 30s, 2m or 1h")
	}
	*d = duration(v)
	return nil
}
