// Package oracle compares executors with the JDK's. It draws small random programs, runs each
// on ours in virtual time and on the JDK in real time, and compares what can be observed: the
// order and the times of runs, rejections, the outcomes of futures, hooks, counters, and the
// tasks that ShutdownNow returns.
//
// The package has the programs and our side. The tests run the JDK's side, in
// testdata/Oracle.java, and compare.
package oracle
