package storetest

import "slices"

// A kind is paused until it is resumed, however often either is asked for, and all
// nodes learn of it; it is no matter whether there are jobs of it.
func pausedKinds(b *bench) {
	a, c := b.node("a"), b.node("c")
	for i, step := range []struct {
		kind  string
		pause bool
		want  []string
	}{
		{"k", true, []string{"k"}},
		{"k", true, []string{"k"}},
		{"K' \\\u00e9", true, []string{"K' \\\u00e9", "k"}},
		{"other", false, []string{"K' \\\u00e9", "k"}},
		{"k", false, []string{"K' \\\u00e9"}},
		{"k", false, []string{"K' \\\u00e9"}},
		{"K' \\\u00e9", false, nil},
	} {
		b.ok(b.store.PauseKind(b.Context(), step.kind, step.pause))
		got := must(b.store.PausedKinds(b.Context()))
		for _, kinds := range [][]string{got, b.beat(a, lease).Paused, b.beat(c, lease).Paused} {
			if slices.Sort(kinds); !slices.Equal(kinds, step.want) {
				b.Errorf("step %d: paused are %q, want %q", i, kinds, step.want)
			}
		}
	}
}
