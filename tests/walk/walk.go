// Package walk has one test for each warm path of the library, so that a profile
// of coverage shows which functions a simple call runs.
//
// The tests leave their pools running, since it would count as well to shut them
// down.
package walk
