package job

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// IOClasses are the classes of ionice, with their numbers.
var ioClasses = map[string]int{"realtime": 1, "best-effort": 2, "idle": 3}

// ParseIONice reads idle, best-effort, or realtime, the latter two with a level from 0 to 7 or without, which is 4. It
// returns the number by which Linux has it, 0 for "".
func ParseIONice(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	word, rest, leveled := strings.Cut(text, " ")
	class, known := ioClasses[word]
	level := 4
	if leveled {
		var err error
		if level, err = strconv.Atoi(strings.TrimSpace(rest)); err != nil || level < 0 || level > 7 {
			known = false
		}
	}
	switch {
	case !known || word == "idle" && leveled:
		return 0, fmt.Errorf("ionice %q is not idle, best-effort or realtime, the latter two with a level from 0 to 7", text)
	case word == "idle":
		level = 0
	}
	return class<<13 | level, nil
}

// LimitNames are those of rlimit.
var LimitNames = []string{"as", "core", "cpu", "data", "fsize", "memlock", "nofile", "nproc", "stack"}

// ParseLimit reads NAME=value, where the value is a number, one with a unit as 512M, or unlimited, which is
// math.MaxUint64.
func ParseLimit(text string) (name string, value uint64, err error) {
	name, number, _ := strings.Cut(text, "=")
	if !slices.Contains(LimitNames, name) {
		return "", 0, fmt.Errorf("unknown rlimit %q; known are %s", name, strings.Join(LimitNames, ", "))
	}
	if number == "unlimited" {
		return name, math.MaxUint64, nil
	}
	shift := 0
	if i := len(number) - 1; i > 0 {
		if unit := strings.IndexByte("KMGT", number[i]); unit >= 0 {
			number, shift = number[:i], 10*(unit+1)
		}
	}
	value, err = strconv.ParseUint(number, 10, 64)
	if err != nil || value > math.MaxInt64>>shift {
		return "", 0, fmt.Errorf("rlimit %s is neither unlimited nor a number, with or without K, M, G or T", text)
	}
	return name, value << shift, nil
}
