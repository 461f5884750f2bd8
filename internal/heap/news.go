package heap

// news is what elements are to be told: their new places, in the order in which
// they got them.
//
// An element that moves is in no cache, as a rule, and to tell it is to wait for
// it. The processor waits for many at once if it comes to the next soon enough: if
// there are few instructions and, above all, few other writes between. So those
// that move are told together, by whoever knows how, in a loop that does nothing
// else.
type news[E any] struct {
	moved  func(elems []E, places []int32)
	n      int
	elems  [64]E
	places [64]int32
}

// tell has an element told its new place, at the next announce.
func (q *Queue[K, E]) tell(e E, place int) {
	if q.news == nil {
		return
	}
	if q.news.n == len(q.news.elems) {
		q.announce()
	}
	q.news.elems[q.news.n], q.news.places[q.news.n] = e, int32(place)
	q.news.n++
}

// announce tells what is to be told. Whatever moves elements ends with it.
func (q *Queue[K, E]) announce() {
	if q.news == nil || q.news.n == 0 {
		return
	}
	elems := q.news.elems[:q.news.n]
	q.news.moved(elems, q.news.places[:q.news.n])
	clear(elems)
	q.news.n = 0
}
