// Package figures makes what pages show of times and numbers: charts, timelines and graphs. It reads no store.
package figures
