// Package walk has one test for each way through the library whose length is
// counted: how many functions run, in how many files. Package repo runs each of
// them alone and counts; see TestWalks there.
//
// The tests leave their pools running, since it would count as well to shut them
// down.
package walk
