package round

import (
	"math/rand/v2"

	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// Cell is a workload on a subject.
type Cell struct {
	Workload workload.Workload
	Subject  subject.Subject
	Params   workload.Params
}

// Name returns the unique name of the cell.
func (c Cell) Name() string { return c.Workload.Name + " " + c.Subject.ID }

// Cells returns the pairs of a workload and a subject that supports it for which keep
// returns true.
func Cells(quick bool, keep func(Cell) bool) []Cell {
	var cells []Cell
	for _, w := range workload.All() {
		for _, s := range subject.All() {
			p, ok := s.Fit(w, quick)
			if c := (Cell{w, s, p}); ok && keep(c) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// Shuffled returns the cells in the random order of a round.
func Shuffled(cells []Cell, seed uint64, round int) []Cell {
	order := append([]Cell(nil), cells...)
	r := rand.New(rand.NewPCG(seed, uint64(round)))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
