// Package page has what packages ui and ui/debug and the command executord share: a guard for requests, files with a
// hash in their names, texts for people, and live updates. It is not meant for other programs, and may change in any
// version.
package page
