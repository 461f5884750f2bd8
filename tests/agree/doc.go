// Package agree holds the figures of pools that package debug shows against those that module otel exports: its tests
// are in no module of the two, since neither requires the other.
package agree
