//go:build race

package main

// withRace says that this program and those that it starts have the race detector, and with it some times the memory.
const withRace = true
