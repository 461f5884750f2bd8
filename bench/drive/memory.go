package drive

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// heapInUse returns the number of reachable bytes of the heap.
func heapInUse() float64 {
	runtime.GC()
	runtime.GC() // frees what finalizers and sync.Pools released in the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// pending measures the memory of pending tasks.
func pending[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	t := open(p.Workers, func() {})
	defer t.Close()
	t.Cancel(t.After(time.Hour)) // so that the first task does not count what it starts
	before := heapInUse()
	fill(t, p.Pending)
	each := (heapInUse() - before) / float64(p.Pending)
	debug.FreeOSMemory()
	values := map[string]float64{"bytes": each}
	addMemory(values, "rss", "VmRSS:")
	addMemory(values, "peak", "VmHWM:")
	return workload.Result{Values: values} // there is nothing to count
}

// addMemory adds a size of this process, by its name in the status of a process, in megabytes, if this system has it.
func addMemory(values map[string]float64, key, name string) {
	if kib, ok := status(name); ok {
		values[key] = kib * 1024 / 1e6
	}
}

// idle measures a process whose tasks are all pending.
func idle[H any](p workload.Params, open OpenTimers[H]) workload.Result {
	t := open(p.Workers, func() {})
	defer t.Close()
	fill(t, p.Pending)
	return IdleProcess(p)
}

// IdleProcess measures the wake-ups and the CPU time of this process.
func IdleProcess(p workload.Params) workload.Result {
	debug.FreeOSMemory()    // otherwise the runtime does it during the measurement
	time.Sleep(time.Second) // until the workers of the collector are idle
	wakeups, cpu, ok := usage()
	time.Sleep(p.Length)
	wakeups2, cpu2, _ := usage()
	if !ok {
		return workload.Result{Unfit: "this system has no count of wake-ups"}
	}
	return workload.Result{Values: map[string]float64{
		"wakeups": float64(wakeups2 - wakeups),
		"cpu":     (cpu2 - cpu).Seconds() * 1e3,
	}}
}
