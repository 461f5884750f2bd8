// Package repo has the tests of the repository itself: which package may import
// which, and what its documents say of the code.
package repo
