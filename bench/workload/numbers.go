package workload

import (
	"fmt"
	"strconv"
)

// Short returns n as in the names of records: 1k, 10m.
func Short(n int) string {
	switch {
	case n >= million && n%million == 0:
		return strconv.Itoa(n/million) + "m"
	case n >= 1000 && n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

// Grouped returns n with commas between its thousands.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count returns a subject for a sentence in the singular.
func count(n int, noun string) string {
	if n == 1 {
		return "One " + noun
	}
	return fmt.Sprintf("Each of %d %ss", n, noun)
}
