// Package peak reports the peak resident memory of a process to the one that
// started it.
package peak

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Print writes the peak of this process in KiB to standard output. Linux keeps
// it for each program: what the kernel reports of a child that has ended counts
// its parent too, as it was when it started the child.
func Print() error {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			fmt.Println(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return nil
		}
	}
	return fmt.Errorf("/proc/self/status does not contain the peak memory")
}
