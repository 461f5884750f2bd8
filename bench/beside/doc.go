// Package beside has programs with other libraries, and the same with this one. docs/how-to/from-another-library.md
// shows them side by side; here they are compiled and, but for what needs a server, held to do the same.
package beside
