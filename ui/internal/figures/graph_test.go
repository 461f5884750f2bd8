package figures_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/executor-go/executor/ui/internal/figures"
)

// graphOf makes a graph of as many nodes and arrows as data asks for: a pair of bytes is an arrow.
func graphOf(nodes, here byte, data []byte) ([]figures.Node, []figures.Arrow, *figures.Graph) {
	in := make([]figures.Node, nodes%60)
	for i := range in {
		in[i].Name = strings.Repeat("é", i)
		in[i].Rows = make([]figures.Row, 1+i%4)
	}
	var arrows []figures.Arrow
	for i := 0; i+1 < len(data) && i < 400; i += 2 {
		arrows = append(arrows, figures.Arrow{From: int(data[i]) % 64, To: int(data[i+1]) % 64})
	}
	return in, arrows, figures.NewGraph(in, arrows, int(here))
}

// checkGraph checks what is true of every graph.
func checkGraph(t *testing.T, in []figures.Node, arrows []figures.Arrow, g *figures.Graph) {
	t.Helper()
	if len(g.Nodes) != len(in) {
		t.Fatalf("%d nodes have become %d", len(in), len(g.Nodes))
	}
	for i, n := range g.Nodes {
		if n.X < 0 || n.Y < 0 || n.X+n.Width > g.Width || n.Y+n.Height > g.Height {
			t.Errorf("node %d, %+v, is not within %d by %d", i, n, g.Width, g.Height)
		}
		for j, m := range g.Nodes[:i] {
			if n.X < m.X+m.Width && m.X < n.X+n.Width && n.Y < m.Y+m.Height && m.Y < n.Y+n.Height {
				t.Errorf("nodes %d and %d overlap", j, i)
			}
		}
		foot := 0
		for _, row := range append(n.Names, n.Rows...) {
			if row.Y <= foot || row.Y >= n.Height {
				t.Errorf("a row of node %d stands at %d, after one at %d, of %d", i, row.Y, foot, n.Height)
			}
			foot = row.Y
			if len([]rune(row.Text)) > 14 {
				t.Errorf("a row of node %d is %q", i, row.Text)
			}
		}
	}
	seen := make(map[[2]int]bool)
	for _, a := range g.Arrows {
		if seen[[2]int{a.From, a.To}] {
			t.Errorf("the arrow from %d to %d is there twice", a.From, a.To)
		}
		seen[[2]int{a.From, a.To}] = true
		from, to := g.Nodes[a.From], g.Nodes[a.To]
		first, last := a.Points[0], a.Points[len(a.Points)-1]
		if first != [2]int{from.X + from.Width, from.Y + from.Height/2} || last != [2]int{to.X, to.Y + to.Height/2} {
			t.Errorf("the arrow from %d to %d leads from %v to %v", a.From, a.To, first, last)
		}
		for i := range a.Points[1:] {
			p, q := a.Points[i], a.Points[i+1]
			if q[0] <= p[0] {
				t.Errorf("the arrow from %d to %d goes back, from %v to %v", a.From, a.To, p, q)
			}
			for j, n := range g.Nodes { // a curve stays between the heights of its ends
				if p[0] < n.X+n.Width && n.X < q[0] && min(p[1], q[1]) < n.Y+n.Height && n.Y < max(p[1], q[1])+1 {
					t.Errorf("the arrow from %d to %d crosses node %d", a.From, a.To, j)
				}
			}
		}
	}
	// What is left out would close a circle: its begin is reached from its end.
	after := make([][]int, len(in))
	for _, a := range g.Arrows {
		after[a.From] = append(after[a.From], a.To)
	}
	for _, a := range arrows {
		if a.From >= len(in) || a.To >= len(in) || a.From == a.To || seen[[2]int{a.From, a.To}] {
			continue
		}
		reached := map[int]bool{a.To: true}
		for todo := []int{a.To}; len(todo) > 0; {
			n := todo[0]
			todo = todo[1:]
			for _, m := range after[n] {
				if !reached[m] {
					reached[m] = true
					todo = append(todo, m)
				}
			}
		}
		if !reached[a.From] {
			t.Errorf("the arrow from %d to %d is left out, and closes no circle", a.From, a.To)
		}
	}
}

// Nodes do not overlap, arrows go forward from node to node, cross none, and those alone are left out that can't.
func FuzzGraph(f *testing.F) {
	f.Add(byte(0), byte(0), []byte{})
	f.Add(byte(3), byte(1), []byte{0, 1, 1, 2, 2, 0, 1, 1})
	f.Add(byte(4), byte(9), []byte{0, 1, 1, 2, 2, 3, 0, 3})
	f.Fuzz(func(t *testing.T, nodes, here byte, data []byte) {
		in, arrows, g := graphOf(nodes, here, data)
		checkGraph(t, in, arrows, g)
	})
}

// Random graphs have the properties of FuzzGraph, with many arrows and with few.
func TestGraphProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data := make([]byte, r.IntN(200))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		nodes, here := byte(r.Uint32()), byte(r.Uint32())
		in, arrows, g := graphOf(nodes, here, data)
		if checkGraph(t, in, arrows, g); t.Failed() {
			t.Fatalf("%d nodes, about %d, %v", nodes, here, data)
		}
	}
}

// What leads to the job is as near to it as can be, and so is what follows.
func TestGraphIsNearItsJob(t *testing.T) {
	nodes := make([]figures.Node, 5) // 0 → 1 → here; 2 → here → 4
	g := figures.NewGraph(nodes, []figures.Arrow{{From: 0, To: 1}, {From: 1, To: 3}, {From: 2, To: 3}, {From: 3, To: 4}}, 3)
	if x := g.Nodes[1].X; g.Nodes[2].X != x || g.Nodes[0].X >= x || g.Nodes[3].X <= x || g.Nodes[4].X <= g.Nodes[3].X {
		t.Errorf("%+v", g.Nodes)
	}
}

// A job with parents and children is as wide as fits a phone.
func TestGraphFitsPhone(t *testing.T) {
	g := figures.NewGraph(make([]figures.Node, 3), []figures.Arrow{{From: 0, To: 1}, {From: 1, To: 2}}, 1)
	if g.Width > 350 {
		t.Errorf("three layers are %d wide", g.Width)
	}
}

// A long name keeps its begin and its end, and one that fits is split where it has a divider.
func TestGraphNames(t *testing.T) {
	for name, want := range map[string]string{
		"load":                  "[load]",
		"orders/2026-11-27":     "[orders/2026- 11-27]",
		"abcdefghijklmnopqr":    "[abcdefghijklmn opqr]",
		strings.Repeat("x", 28): "[xxxxxxxxxxxxxx xxxxxxxxxxxxxx]",
		"begin" + strings.Repeat("x", 90) + "end": "[beginxxxxxxxx… xxxxxxxxxxxend]",
	} {
		g := figures.NewGraph([]figures.Node{{Name: name}}, nil, 0)
		var lines []string
		for _, row := range g.Nodes[0].Names {
			lines = append(lines, row.Text)
		}
		if got := fmt.Sprint(lines); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
}
