package cron

import "strings"

// nearest returns the candidate that text is a likely misspelling of: one slip
// away for short ones, two for those of five letters or more.
func nearest(text string, candidates []string) (string, bool) {
	text = strings.ToLower(text)
	best, least := "", 3
	for _, c := range candidates {
		most := 1
		if len(c) >= 5 {
			most = 2
		}
		if len(text) > len(c)+most || len(c) > len(text)+most {
			continue
		}
		if d := slips(text, c); d <= most && d < least {
			best, least = c, d
		}
	}
	return best, least < 3
}

// slips counts the letters to add, drop, change or swap with their neighbor to
// make a into b. Both are short.
func slips(a, b string) int {
	// Three rows of the usual table: before[j] is the distance of a[:i-2] from b[:j].
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
