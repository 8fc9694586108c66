// Empty does nothing: it measures the start of a process.
package main

func main() {}
