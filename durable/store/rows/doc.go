// Package rows is for authors of stores. It is a store whose jobs are rows of tables in memory: all of its logic, and
// nothing of where the rows live. A [Home] keeps them. Package memory is the home that forgets them at the end of the
// program. Another one may mirror the rows of a database that many programs share, and that can commit writes of
// several keys if other keys still have the versions that were read: it sends what [Tx.Reads] and [Tx.Writes] yield,
// and has [Rows.Set] tell the mirror what was committed, by whichever program.
//
// A call reads and writes rows by a [Tx], which keeps what it has written to itself and notes the version of each row
// that it has read. The home commits it if all of these rows still have these versions; otherwise the call decides
// again, by the rows as they are then. So a call may do nothing but read and write rows: it may decide several times,
// and answers what it has decided last. The time of a transaction is the same for all that it does.
//
// A scan notes no versions: it finds what the rows of a table, or an index of it, were when the transaction began.
// Whoever depends on what a scan does not find reads a row that the others write:
//
// - Who adds a job with parents writes the rows of these, so that the end of a parent finds its children. - Who keeps a
// signal of a job writes its row, so that the removal of the job finds the signal. - Who claims jobs of a kind with a
// limit of all nodes reads and writes the turn of the kind. - Who claims jobs reads the row of the node. What it has
// claimed just before the node died is freed by a transaction of its own, once the node is gone and can claim no more.
package rows
