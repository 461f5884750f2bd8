package web

import (
	"crypto/rand"
	"slices"
	"sync"
)

// orders keeps the order of the rows of lists while somebody looks at them: a row that is sorted anew by each update is
// another one when it is clicked.
type orders struct {
	mu     sync.Mutex
	latest []order // the one that was asked for last is the last
}

// order is that of the rows of a page.
type order struct {
	id    string
	names []string
}

const (
	// mostOrders is how many orders are kept. One that is not gets another when its page asks the next time.
	mostOrders = 128
	// longestOrder is how long the name of an order may be.
	longestOrder = 40
)

// keep returns the order with a name. If there is none it is the one that is given, which has that name then, or a new one.
func (o *orders) keep(id string, names []string) (order_ []string, _ string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.latest, func(one order) bool { return one.id == id }); i >= 0 && id != "" {
		found := o.latest[i]
		o.latest = append(slices.Delete(o.latest, i, i+1), found)
		return found.names, id
	}
	if id == "" || len(id) > longestOrder {
		id = rand.Text()
	}
	if len(o.latest) == mostOrders {
		o.latest = slices.Delete(o.latest, 0, 1)
	}
	o.latest = append(o.latest, order{id, names})
	return names, id
}
