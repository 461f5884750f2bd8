package howto

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable/durabletest"
)

// ledger is a shop that notes the calls, of which the first of one sort fails.
type ledger struct {
	calls []string
	fails string
}

func (l *ledger) call(name string) (string, error) {
	l.calls = append(l.calls, name)
	if l.fails == name {
		l.fails = ""
		return "", errors.New(name + " fails")
	}
	return name + "d", nil
}

func (l *ledger) Reserve(context.Context, string, string) (string, error) { return l.call("reserve") }
func (l *ledger) Charge(context.Context, string, int) (string, error)     { return l.call("charge") }
func (l *ledger) Ship(context.Context, string, string) (string, error)    { return l.call("ship") }
func (l *ledger) Return(context.Context, string, string) (string, error)  { return l.call("return") }

// An order whose step fails goes on with it; one of much waits for a decision.
func TestOrders(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		cents  int
		fails  string
		decide *bool
		want   []string
	}{
		"small":    {99_99, "", nil, []string{"reserve", "charge", "ship"}},
		"fails":    {99_99, "ship", nil, []string{"reserve", "charge", "ship", "ship"}},
		"approved": {100_01, "charge", &yes, []string{"reserve", "charge", "charge", "ship"}},
		"declined": {100_01, "", &no, []string{"reserve", "return"}},
		"ignored":  {100_01, "return", nil, []string{"reserve", "return", "return"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := durabletest.New(t)
				shop := &ledger{fails: test.fails}
				orders := handleOrders(jobs, shop)
				durabletest.Start(t, jobs)
				begun := time.Now()
				id, err := orders.Add(t.Context(), order{"book", test.cents})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				if test.decide != nil {
					if ok, err := decide(t.Context(), jobs, id, *test.decide); !ok || err != nil {
						t.Errorf("the decision: %t, %v", ok, err)
					}
				}
				got, err := orders.Await(t.Context(), id)
				want := delivery{Parcel: "shipd"}
				if slices.Contains(test.want, "return") {
					want = delivery{Declined: true}
				}
				if err != nil || got != want || !slices.Equal(shop.calls, test.want) {
					t.Errorf("got %+v, %v after %q, want %q", got, err, shop.calls, test.want)
				}
				if waited := time.Since(begun) >= 72*time.Hour; waited != (name == "ignored") {
					t.Errorf("it took %v", time.Since(begun))
				}
			})
		})
	}
}
