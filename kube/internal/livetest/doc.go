// Package livetest runs olmkit, and kubectl with olmkit as a plugin, on a real API server with
// hundreds of operators, and with a ClusterExtension.
//
// There is nothing to import.
package livetest
