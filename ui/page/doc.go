// Package page is what all pages of this repository have in common, whatever they show: which requests are answered,
// files with a hash in their names, texts for people, and live updates.
package page
