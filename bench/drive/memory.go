package drive

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// held gives the bytes of the heap that are reachable.
func held() float64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools let go in the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// pending measures the memory of tasks that wait.
func pending[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	t := open(p.Workers, func() {})
	defer t.Close()
	t.Cancel(t.After(time.Hour)) // starts what starts late
	before := held()
	fill(t, p.Pending)
	each := (held() - before) / float64(p.Pending)
	debug.FreeOSMemory()
	values := map[string]float64{"bytes": each}
	if rss, ok := status("VmRSS:"); ok {
		values["rss"] = rss * 1024 / 1e6
	}
	if peak, ok := status("VmHWM:"); ok {
		values["peak"] = peak * 1024 / 1e6
	}
	return workload.Result{Values: values} // there is nothing to count
}

// idle watches a process that waits.
func idle[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	t := open(p.Workers, func() {})
	defer t.Close()
	fill(t, p.Pending)
	return Quiet(p)
}

// Quiet watches the process for a while.
func Quiet(p workload.Params) workload.Result {
	debug.FreeOSMemory()    // or the runtime would do it bit by bit meanwhile
	time.Sleep(time.Second) // the collector's workers go to sleep
	wakeups, cpu, ok := spent()
	time.Sleep(p.Length)
	wakeups2, cpu2, _ := spent()
	if !ok {
		return workload.Result{Unfit: "this system does not tell how often threads wake up"}
	}
	return workload.Result{Values: map[string]float64{"wakeups": float64(wakeups2 - wakeups), "cpu": (cpu2 - cpu).Seconds() * 1e3}}
}
