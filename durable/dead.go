package durable

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable/internal/text"
)

// maxDead is the most jobs that DeadGroups looks at, and maxDeadIDs the most IDs that a group has.
const (
	maxDead    = 10_000
	maxDeadIDs = 500
)

// A DeadGroup is the dead jobs of a kind that failed for the same reason.
type DeadGroup struct {
	Kind string `json:"kind"`
	// Reason is the first line of their errors, with "#" for each number and each longer word of hexadecimal digits.
	Reason string    `json:"reason"`
	Jobs   int       `json:"jobs"`
	First  time.Time `json:"first"` // when the first and the last of them ended
	Last   time.Time `json:"last"`
	IDs    []ID      `json:"ids"` // the latest first, at most 500
}

// DeadGroups returns the latest 10,000 dead jobs, in groups by kind and reason. The largest group is the first.
func (j *Jobs) DeadGroups(ctx context.Context) ([]DeadGroup, error) {
	mustContext(ctx)
	if j.parts.Counter == nil {
		return nil, j.lacks("dead groups", "Counter")
	}
	dead, err := j.parts.Counter.Dead(ctx, maxDead)
	if err != nil {
		return nil, failed("dead groups", err)
	}
	type key struct{ kind, reason string }
	index := make(map[key]int)
	var groups []DeadGroup
	for _, d := range dead {
		k := key{d.Kind, reason(d.Error)}
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k] = i
			groups = append(groups, DeadGroup{Kind: k.kind, Reason: k.reason, Last: d.Ended})
		}
		g := &groups[i]
		g.Jobs++
		g.First = d.Ended
		if len(g.IDs) < maxDeadIDs {
			g.IDs = append(g.IDs, d.ID)
		}
	}
	slices.SortStableFunc(groups, func(a, b DeadGroup) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), b.Last.Compare(a.Last))
	})
	return groups, nil
}

// varies are the parts of an error in which those of the same reason differ.
var varies = regexp.MustCompile(`\b[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{2,})+\b|\b0x[0-9a-fA-F]+\b|[0-9]+`)

// reason returns what errors of the same reason have in common.
func reason(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return varies.ReplaceAllString(text.Shorten(line, 300), "#")
}
