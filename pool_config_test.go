package executor_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A Config with a value out of its range makes no pool, and the error names the
// field.
func TestPoolConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		field  string
		config executor.Config
	}{
		{"Core", executor.Config{Core: -1}},
		{"Core", executor.Config{Core: -1, Max: 1}},
		{"Core", executor.Config{Core: math.MinInt, Max: 1}},
		{"Max", executor.Config{Max: -1}},
		{"Max", executor.Config{Core: 1, Max: -1}},
		{"Max", executor.Config{Core: 2, Max: 1}},
		{"KeepAlive", executor.Config{Core: 1, KeepAlive: -1}},
		{"KeepAlive", executor.Config{Core: 1, KeepAlive: math.MinInt64}},
		{"KeepAlive", executor.Config{Core: 1, AllowCoreTimeout: true}},
		{"Bounded", executor.Config{Core: 1, Queue: executor.Bounded(0)}},
		{"Bounded", executor.Config{Core: 1, Queue: executor.Bounded(-1)}},
		{"Reject", executor.Config{Core: 1, Reject: executor.RejectFunc(nil)}},
	} {
		pool, err := executor.New(c.config)
		if pool != nil {
			t.Errorf("New(%+v) made a pool", c.config)
		}
		expectIs(t, fmt.Sprintf("New(%+v)", c.config), err, executor.ErrInvalid)
		if err != nil && !strings.Contains(err.Error(), c.field) {
			t.Errorf("New(%+v): error %q does not name %s", c.config, err, c.field)
		}
	}
}

// The extreme values that are legal make a pool that works.
func TestPoolConfigExtremes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []executor.Config{
			{Core: 1, KeepAlive: math.MaxInt64},
			{Core: 1, KeepAlive: math.MaxInt64, AllowCoreTimeout: true},
			{Core: math.MaxInt},
			{Max: math.MaxInt, KeepAlive: math.MaxInt64, Queue: executor.Handoff()},
			{Core: 1, Queue: executor.Bounded(math.MaxInt)},
		} {
			pool := newPool(t, c)
			ran := false
			mustGo(t, pool, func(context.Context) error { ran = true; return nil })
			s := waitStats(t, pool)
			time.Sleep(1000 * time.Hour)
			if !ran || s.Workers != 1 || waitStats(t, pool).Workers != 1 {
				t.Errorf("%+v: ran %v, %d workers, then %d", c, ran, s.Workers, pool.Stats().Workers)
			}
		}
	})
}

// The zero Config has as many workers as GOMAXPROCS says, keeps them, has an
// unbounded queue, and aborts.
func TestPoolConfigDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{})
		expect(t, "Core", pool.Core(), runtime.GOMAXPROCS(0))
		expect(t, "Max", pool.Max(), runtime.GOMAXPROCS(0))
		expect(t, "KeepAlive", pool.KeepAlive(), 0)
		expect(t, "AllowCoreTimeout", pool.AllowCoreTimeout(), false)
		expect(t, "RejectPolicy", pool.RejectPolicy(), executor.Abort)
		newBlocker(t).Fill(t, pool, 1000)
		expect(t, "Queued", checkStats(t, pool).Queued, 1000-runtime.GOMAXPROCS(0))
	})
}

// What the Config said reads back, and a Max of zero is Core.
func TestPoolConfigReadsBack(t *testing.T) {
	mine := new(custom)
	pool := newPool(t, executor.Config{Core: 1, Max: 3, KeepAlive: 1000 * time.Millisecond, AllowCoreTimeout: true, Reject: mine})
	expect(t, "Core", pool.Core(), 1)
	expect(t, "Max", pool.Max(), 3)
	expect(t, "KeepAlive", pool.KeepAlive(), time.Second)
	expect(t, "AllowCoreTimeout", pool.AllowCoreTimeout(), true)
	expect(t, "RejectPolicy", pool.RejectPolicy(), executor.RejectPolicy(mine))
	expect(t, "Max of Core 5", newPool(t, executor.Config{Core: 5}).Max(), 5)
}

// What a setter sets reads back, while the pool runs and after.
func TestPoolSettersReadBack(t *testing.T) {
	pool := newPool(t, executor.Config{Core: 2, Max: 3, KeepAlive: 1})
	mine := new(custom)
	for range 2 {
		for name, err := range map[string]error{
			"SetMax(5)": pool.SetMax(5), "SetCore(4)": pool.SetCore(4), "SetKeepAlive": pool.SetKeepAlive(time.Hour),
			"SetAllowCoreTimeout": pool.SetAllowCoreTimeout(true), "SetReject": pool.SetReject(mine),
		} {
			expect(t, name, err, nil)
		}
		expect(t, "Max", pool.Max(), 5)
		expect(t, "Core", pool.Core(), 4)
		expect(t, "KeepAlive", pool.KeepAlive(), time.Hour)
		expect(t, "AllowCoreTimeout", pool.AllowCoreTimeout(), true)
		expect(t, "RejectPolicy", pool.RejectPolicy(), executor.RejectPolicy(mine))
		pool.Close()
	}
}

// A setter with a value out of its range changes nothing.
func TestPoolSettersAreChecked(t *testing.T) {
	pool := newPool(t, executor.Config{Core: 2, Max: 3, KeepAlive: time.Second, AllowCoreTimeout: true})
	off := newPool(t, executor.Config{Core: 2, Max: 3})
	for name, err := range map[string]error{
		"SetCore(-1)":                pool.SetCore(-1),
		"SetCore(4)":                 pool.SetCore(4),
		"SetMax(-1)":                 pool.SetMax(-1),
		"SetMax(0)":                  pool.SetMax(0),
		"SetMax(1)":                  pool.SetMax(1),
		"SetKeepAlive(-1)":           pool.SetKeepAlive(-1),
		"SetKeepAlive(0)":            pool.SetKeepAlive(0), // while core workers time out
		"SetReject(nil)":             pool.SetReject(nil),
		"SetReject(RejectFunc(nil))": pool.SetReject(executor.RejectFunc(nil)),
		"SetAllowCoreTimeout(true)":  off.SetAllowCoreTimeout(true), // while KeepAlive is 0
	} {
		expectIs(t, name, err, executor.ErrInvalid)
		if setter, _, _ := strings.Cut(name, "("); err != nil && !strings.Contains(err.Error(), setter) {
			t.Errorf("%s: error %q does not name the setter", name, err)
		}
	}
	expect(t, "Core", pool.Core(), 2)
	expect(t, "Max", pool.Max(), 3)
	expect(t, "KeepAlive", pool.KeepAlive(), time.Second)
	expect(t, "RejectPolicy", pool.RejectPolicy(), executor.Abort)
	expect(t, "AllowCoreTimeout", off.AllowCoreTimeout(), false)
}

// Core never exceeds Max, whichever of them is changed (JDK-7153400).
func TestPoolSizeInvariants(t *testing.T) {
	for s := 1; s < 5; s++ {
		pool := newPool(t, executor.Config{Core: s})
		if s > 1 {
			expectIs(t, "SetMax below Core", pool.SetMax(s-1), executor.ErrInvalid)
		}
		expectIs(t, "SetCore above Max", pool.SetCore(s+1), executor.ErrInvalid)
		expect(t, "Core", pool.Core(), s)
		expect(t, "Max", pool.Max(), s)
	}
}

// One Queue describes the queues of many pools, which have nothing in common.
func TestPoolQueueIsADescription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := executor.Bounded(1)
		a, b := newPool(t, executor.Config{Core: 1, Queue: q}), newPool(t, executor.Config{Core: 1, Queue: q})
		block := newBlocker(t)
		block.Fill(t, a, 2)
		block.Fill(t, b, 2)
		expect(t, "queued in a", checkStats(t, a).Queued, 1)
		expect(t, "queued in b", checkStats(t, b).Queued, 1)
	})
}

// custom is a policy of a user's own, compared by identity.
type custom struct{ asked int }

func (c *custom) Reject(context.Context, executor.Runnable, *executor.Pool) error {
	c.asked++
	return nil
}
