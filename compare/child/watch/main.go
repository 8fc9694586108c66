// Watch runs a program and prints its peak resident memory in KiB to standard error, in place of what the program prints
// there unless it fails. The peak of a process that wait4 reports includes the memory of the one that started it, so a
// small process has to start it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = os.Stdout, &stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, stderr.Bytes())
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
}
