package executor

import "context"

// carrier gives a plain Runnable the life of a task, where a pool needs one: to
// name it, to bound its time, or to place it in a delay queue. Nobody outside
// ever sees it; origin gives what it carries.
type carrier struct {
	task
	run Runnable
}

func newCarrier(r Runnable) *carrier {
	return &carrier{run: r, task: unattached()}
}

func (c *carrier) fail(err error) {
	c.unbegin()
	c.finish(Failed, err, nil)
}

// Run is never called by the pool; it makes a carrier bound.
func (c *carrier) Run(ctx context.Context) error { return c.run.Run(ctx) }

func (c *carrier) invoke(ctx context.Context) (end ending) {
	returned := false
	defer func() {
		if !returned {
			end = abrupt(recover())
		}
		c.finish(final(end.err), end.err, nil)
	}()
	end.err = c.run.Run(ctx)
	returned = true
	return end
}

func (c *carrier) end(s State, err error) bool        { return c.settleIf(true, s, err, nil, nil) }
func (c *carrier) origin() Runnable                   { return c.run }
func (c *carrier) apart() func(context.Context) error { return c.run.Run }
