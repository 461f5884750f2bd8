//go:build race

package main

// raceEnabled reports whether the race detector is on, which takes some times as much memory.
const raceEnabled = true
