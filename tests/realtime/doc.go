// Package realtime has the tests of the executors that need the real clock: how
// late tasks run, and races that virtual time cannot show.
package realtime
