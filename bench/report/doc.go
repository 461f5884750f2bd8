// Package report turns samples into records, and records into tables, charts and a page of
// documentation.
package report
