package cli

import "github.com/spf13/pflag"

// addList adds a flag that may be repeated. StringArrayVarP of pflag does the same, but makes a CSV writer for the
// default of each flag, which is half of the memory of all commands.
func addList(f *pflag.FlagSet, p *[]string, name, shorthand, usage string) {
	f.VarP((*listFlag)(p), name, shorthand, usage)
}

// A listFlag is the value of such a flag.
type listFlag []string

// Set appends a value, which may contain commas.
func (l *listFlag) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// String returns the default, which is empty.
func (l *listFlag) String() string { return "" }

// Type returns what help shows for flags that do not name their values.
func (l *listFlag) Type() string { return "stringArray" }
