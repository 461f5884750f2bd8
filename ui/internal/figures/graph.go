package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Node is a job in a Graph, or many that are drawn as one.
type Node struct {
	Name string // is cut if it is long
	Path string // of its page; "" for none
	Says string // what it is, for the pointer and for readers of the screen
	Here bool   // the graph is about it
	Rows []Row  // below the name

	X, Y, Width, Height int // where NewGraph has put it
	Names               []Row
}

// A Row is a line in a Node.
type Row struct {
	Y     int    // of its foot, in the node
	Class string // how it is coloured, "" for as other text
	Text  string
}

// An Arrow leads from a node to one that comes after it.
type Arrow struct {
	From, To int    // nodes by their indexes
	Open     bool   // it is still waited for
	D        string // the path that NewGraph has drawn
	Points   [][2]int
}

// A Graph shows what comes before and after what, in layers from left to right.
type Graph struct {
	Width, Height int
	Nodes         []Node
	Arrows        []Arrow
	Tips          string // the path of the heads of the arrows
}

// Sizes of a graph. Three layers are as wide as a phone.
const (
	nodeWidth  = 100
	layerGap   = 22 // between two layers
	nodeGap    = 10 // between two nodes of a layer
	nodePad    = 7  // above and below the text of a node
	rowHeight  = 14
	wayHeight  = 6  // of an arrow that passes a layer
	nameLength = 14 // runes of a line of a name
	nameLines  = 2
	graphSweep = 4 // how often layers are ordered
)

// NewGraph puts nodes in their places. here is the one that the graph is about; what leads to it is as near to it as
// can be. Arrows that lead from or to no node are left out, as are those that would close a circle.
func NewGraph(nodes []Node, arrows []Arrow, here int) *Graph {
	l := &layout{after: make([][]int, len(nodes)), before: make([][]int, len(nodes))}
	g := &Graph{Nodes: slices.Clone(nodes)}
	for _, a := range l.forward(len(nodes), arrows) {
		g.Arrows = append(g.Arrows, a)
		l.after[a.From], l.before[a.To] = append(l.after[a.From], a.To), append(l.before[a.To], a.From)
	}
	for i := range g.Nodes {
		g.Nodes[i].fit()
		l.heights = append(l.heights, g.Nodes[i].Height)
	}
	l.place(here)
	ways := l.ways(g.Arrows)
	l.sort()
	g.Width, g.Height = l.position()
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.X, n.Y = layerX(l.layer[i]), l.top[i]
	}
	var tips strings.Builder
	for i := range g.Arrows {
		a := &g.Arrows[i]
		a.Points = l.points(ways[i])
		a.D = curve(a.Points)
		end := a.Points[len(a.Points)-1]
		fmt.Fprintf(&tips, "M%d %dl-6-3v6z", end[0], end[1])
	}
	g.Tips = tips.String()
	return g
}

// fit splits the name of a node, and sets its size.
func (n *Node) fit() {
	n.Names = nil
	for _, text := range split(n.Name) {
		n.Names = append(n.Names, Row{Text: text})
	}
	y := nodePad - 3
	n.Rows = slices.Clone(n.Rows)
	for _, rows := range [][]Row{n.Names, n.Rows} {
		for i := range rows {
			y += rowHeight
			rows[i].Y = y
		}
	}
	n.Width, n.Height = nodeWidth, y+3+nodePad
}

// split splits a name into lines, after what divides it if there is such a place, and cuts its middle if it is too
// long.
func split(name string) (lines []string) {
	runes := []rune(name)
	if most := nameLength * nameLines; len(runes) > most {
		runes = slices.Concat(runes[:most/2-1], []rune{'…'}, runes[len(runes)-most/2:])
		return []string{string(runes[:nameLength]), string(runes[nameLength:])}
	}
	if len(runes) <= nameLength {
		return []string{string(runes)}
	}
	at := nameLength
	for i := nameLength; i > 0 && len(runes)-i <= nameLength; i-- {
		if strings.ContainsRune("/-_.: ", runes[i-1]) {
			at = i
			break
		}
	}
	return []string{string(runes[:at]), string(runes[at:])}
}

// layout is what is known of a graph while it is made. The first items are the nodes; those that follow are the places
// at which an arrow passes a layer.
type layout struct {
	after, before [][]int // by item
	order         []int   // the nodes, each after those before it
	layer         []int   // by item
	heights, top  []int   // by item
	layers        [][]int // the items of each, from the top
}

// forward returns the arrows between nodes, each once, without those that would close a circle, and sets order.
func (l *layout) forward(nodes int, arrows []Arrow) (kept []Arrow) {
	out := make([][]Arrow, nodes)
	for _, a := range arrows {
		if a.From < 0 || a.To < 0 || a.From >= nodes || a.To >= nodes || a.From == a.To ||
			slices.ContainsFunc(out[a.From], func(b Arrow) bool { return a.To == b.To }) {
			continue
		}
		out[a.From] = append(out[a.From], a)
	}
	const unseen, open, done = 0, 1, 2
	state := make([]int, nodes)
	var visit func(int)
	visit = func(n int) {
		state[n] = open
		for _, a := range out[n] {
			if state[a.To] == open {
				continue // it closes a circle
			}
			if kept = append(kept, a); state[a.To] == unseen {
				visit(a.To)
			}
		}
		state[n] = done
		l.order = append(l.order, n)
	}
	for n := range nodes {
		if state[n] == unseen {
			visit(n)
		}
	}
	slices.Reverse(l.order)
	return kept
}

// place sets the layer of each node: of those that lead to here as late as can be, and of the others as early.
func (l *layout) place(here int) {
	l.layer = make([]int, len(l.after))
	leads := make([]bool, len(l.after))
	for _, n := range slices.Backward(l.order) {
		if n == here {
			leads[n] = true
			continue
		}
		for _, m := range l.after[n] {
			if leads[m] {
				l.layer[n] = min(l.layer[n], l.layer[m]-1)
				leads[n] = true
			}
		}
	}
	for _, n := range l.order {
		for _, m := range l.before[n] {
			if !leads[n] {
				l.layer[n] = max(l.layer[n], l.layer[m]+1)
			}
		}
	}
	first, last := 0, 0
	for _, at := range l.layer {
		first, last = min(first, at), max(last, at)
	}
	l.layers = make([][]int, last-first+1)
	for n := range l.layer {
		l.layer[n] -= first
		l.layers[l.layer[n]] = append(l.layers[l.layer[n]], n)
	}
}

// ways adds an item for each layer that an arrow passes, and returns the items of each arrow, with both its ends.
func (l *layout) ways(arrows []Arrow) (all [][]int) {
	clear(l.after)
	clear(l.before)
	for _, a := range arrows {
		way := []int{a.From}
		for at := l.layer[a.From] + 1; at < l.layer[a.To]; at++ {
			item := len(l.layer)
			l.layer, l.heights = append(l.layer, at), append(l.heights, wayHeight)
			l.after, l.before = append(l.after, nil), append(l.before, nil)
			l.layers[at] = append(l.layers[at], item)
			way = append(way, item)
		}
		way = append(way, a.To)
		for i := range way[1:] {
			l.after[way[i]] = append(l.after[way[i]], way[i+1])
			l.before[way[i+1]] = append(l.before[way[i+1]], way[i])
		}
		all = append(all, way)
	}
	return all
}

// sort orders the items of each layer by where those are to which they are tied, so that few arrows cross.
func (l *layout) sort() {
	rank := make([]float64, len(l.layer))
	number := func(items []int) {
		for i, item := range items {
			rank[item] = float64(i) - float64(len(items)-1)/2
		}
	}
	for _, items := range l.layers {
		number(items)
	}
	settle := func(items []int, ties [][]int) {
		mean := make(map[int]float64)
		for _, item := range items {
			mean[item] = rank[item]
			if n := len(ties[item]); n > 0 {
				sum := 0.0
				for _, other := range ties[item] {
					sum += rank[other]
				}
				mean[item] = sum / float64(n)
			}
		}
		slices.SortStableFunc(items, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		number(items)
	}
	for range graphSweep {
		for _, items := range l.layers {
			settle(items, l.before)
		}
		for _, items := range slices.Backward(l.layers) {
			settle(items, l.after)
		}
	}
}

// position sets where each item is at the top, each layer in the middle, and returns the size of all.
func (l *layout) position() (width, height int) {
	size := func(items []int) int {
		h := nodeGap * (len(items) - 1)
		for _, item := range items {
			h += l.heights[item]
		}
		return h
	}
	for _, items := range l.layers {
		height = max(height, size(items))
	}
	l.top = make([]int, len(l.layer))
	for _, items := range l.layers {
		y := (height - size(items)) / 2
		for _, item := range items {
			l.top[item] = y
			y += l.heights[item] + nodeGap
		}
	}
	return layerX(len(l.layers)) - layerGap, height
}

// layerX returns where a layer begins.
func layerX(layer int) int { return layer * (nodeWidth + layerGap) }

// points returns where a way leaves each of its items on the right, and comes to the next on the left.
func (l *layout) points(way []int) (all [][2]int) {
	for i, item := range way {
		x, y := layerX(l.layer[item]), l.top[item]+l.heights[item]/2
		if i > 0 {
			all = append(all, [2]int{x, y})
		}
		if i < len(way)-1 {
			all = append(all, [2]int{x + nodeWidth, y})
		}
	}
	return all
}

// curve returns a path through points, of which each second part is in the gap between two layers.
func curve(points [][2]int) string {
	var d strings.Builder
	fmt.Fprintf(&d, "M%d %d", points[0][0], points[0][1])
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		switch {
		case from[1] == to[1]:
			fmt.Fprintf(&d, "H%d", to[0])
		default:
			middle := (from[0] + to[0]) / 2
			fmt.Fprintf(&d, "C%d %d %d %d %d %d", middle, from[1], middle, to[1], to[0], to[1])
		}
	}
	return d.String()
}

// Em returns the width in a font of ten units, so that a style can scale it.
func (g *Graph) Em() string { return fmt.Sprintf("%.1f", float64(g.Width)/10) }
