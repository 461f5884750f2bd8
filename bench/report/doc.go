// Package report makes records of samples, and tables, charts and a page of
// documentation of records.
package report
