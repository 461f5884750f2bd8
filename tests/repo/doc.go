// Package repo has the tests of the repository itself: its layout, its words, and
// what its documents say of the code.
package repo
