package cron

import "strings"

// nearest returns the candidate that text is likely a misspelling of: its distance is
// at most one, or two from a candidate of five letters or more.
func nearest(text string, candidates []string) (string, bool) {
	text = strings.ToLower(text)
	best, bestDistance := "", 3
	for _, c := range candidates {
		limit := 1
		if len(c) >= 5 {
			limit = 2
		}
		if len(text) > len(c)+limit || len(c) > len(text)+limit {
			continue
		}
		if d := distance(text, c); d <= limit && d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best, bestDistance < 3
}

// distance returns the Damerau-Levenshtein distance of a and b: how many letters to
// insert, delete, replace or swap with their neighbor to get from a to b.
func distance(a, b string) int {
	// Three rows of the usual table: row[j] is the distance of a[:i] and b[:j], last[j]
	// that of a[:i-1], and before[j] that of a[:i-2].
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
