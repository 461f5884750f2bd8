package main

// newsMutants break how elements of the priority queue learn where they are.
var newsMutants = []mutant{
	{
		file: "internal/heap/news.go", what: "what was told is retained",
		old: "	clear(elems)\n",
		new: "",
	},
	{
		file: "internal/heap/news.go", what: "the first of the news is not told",
		old: "q.news.moved(elems, q.news.places[:q.news.n])",
		new: "q.news.moved(elems[1:], q.news.places[1:q.news.n])",
	},
	{
		file: "internal/heap/news.go", what: "what does not fit into the news is not told",
		old: "	if q.news.n == len(q.news.elems) {\n		q.announce()\n	}\n",
		new: "	if q.news.n == len(q.news.elems) {\n		q.news.n = 0\n	}\n",
	},
	{
		file: "internal/heap/news.go", what: "the news are told again",
		old: "	q.news.n = 0\n",
		new: "",
	},
	{
		file: "internal/heap/queue.go", what: "who leaves the lane for others is told later",
		old: "	q.announce()\n	q.late",
		new: "	q.late",
	},
	{
		file: "internal/heap/queue.go", what: "a lane that closes ranks tells it later",
		old: "laneAt(place)) })\n\t\tq.announce()\n",
		new: "laneAt(place)) })\n",
	},
	{
		file: "internal/heap/flow.go", what: "what is spilled is told later",
		old: "	q.announce()\n	q.tree.compact()",
		new: "	q.tree.compact()",
	},
	{
		file: "internal/heap/flow.go", what: "what goes to a new pile is told later",
		old: "	q.pack(i + 1)\n	q.announce()\n",
		new: "	q.pack(i + 1)\n",
	},
	{
		file: "internal/heap/flow.go", what: "what comes near is told later",
		old: "	q.announce()\n	q.end(i)\n	q.tree.heapify()",
		new: "	q.end(i)\n	q.tree.heapify()",
	},
	{
		file: "internal/heap/flow.go", what: "piles that are joined are told later",
		old: "	q.announce()\n	q.end(i)\n}",
		new: "	q.end(i)\n}",
	},
	{
		file: "internal/heap/ends.go", what: "what was handed over is told its place later",
		old: "	q.announce()\n	clear",
		new: "	clear",
	},
	{
		file: "internal/heap/sweep.go", what: "counting anew is told later",
		old: "	q.announce()\n",
		new: "",
	},
}
