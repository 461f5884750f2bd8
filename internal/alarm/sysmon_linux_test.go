package alarm

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
)

// known skips the test unless the monitor's thread is known.
func known(t *testing.T) {
	t.Helper()
	if _, err := os.ReadFile("/proc/self/syscall"); err != nil {
		t.Skip("this system does not tell where threads are:", err)
	}
	sought(t, func() bool {
		sysmon.searches.Store(0)
		sysmon.search(findSysmon)
		return sysmon.thread.Load() != 0
	})
}

// sought looks until found says so. The monitor of a process that has been idle may
// not be where it is looked for until the world was stopped and goes on.
func sought(t *testing.T, found func() bool) {
	t.Helper()
	for tries := 1; !found(); tries++ {
		if tries == 100_000 {
			t.Fatal("no thread is in runtime.usleep, or not the same for long")
		}
		if tries%100 == 0 {
			runtime.GC()
		}
	}
}

// The monitor is one thread, and the same each time.
func TestSysmonIsOneThread(t *testing.T) {
	known(t)
	found := map[int32]int{}
	for range 20 {
		var id int32
		sought(t, func() bool { id = findSysmon(); return id != 0 })
		found[id]++
	}
	if found[sysmon.thread.Load()] < 15 {
		t.Errorf("took %d for the monitor, found %v", sysmon.thread.Load(), found)
	}
}

// Who is found twice, and nobody else between, is taken for the monitor.
func TestSysmonIsFoundTwice(t *testing.T) {
	for _, c := range []struct {
		finds []int32
		want  int32
	}{
		{[]int32{5}, 0},
		{[]int32{5, 5}, 5},
		{[]int32{0, 0, 0}, 0},
		{[]int32{5, 6, 5, 6}, 0},
		{[]int32{6, 5, 5, 6, 6}, 5},
		{[]int32{5, 0, 5}, 5},
	} {
		var m monitor
		for _, id := range c.finds {
			m.search(func() int32 { return id })
		}
		if got := m.thread.Load(); got != c.want {
			t.Errorf("found %v and took %d, want %d", c.finds, got, c.want)
		}
	}
}

// A monitor that is known is not looked for, and one that can't be found not for ever.
func TestSysmonSearchEnds(t *testing.T) {
	for found, want := range map[int32]int{5: 2, 0: maxSearches} {
		var m monitor
		searches := 0
		for range 1000 {
			m.search(func() int32 { searches++; return found })
		}
		if searches != want {
			t.Errorf("looked %d times and found %d, want %d times", searches, found, want)
		}
	}
}

// Only a thread that is in the runtime's usleep is the monitor.
func TestSleeps(t *testing.T) {
	here, _, _, _ := runtime.Caller(0)
	for _, state := range []string{
		"", "running\n", "-1 0x7ffd 0x0\n", "35 0x1 0x0 0x0 0x0 0x1 0xa 0x1 0xzz\n", "35 1",
		fmt.Sprintf("35 0x1 0x0 0x0 0x0 0x1 0xa 0x1 %#x\n", here),
	} {
		if sleeps(state) {
			t.Errorf("%q", state)
		}
	}
}

// However often it was asked for, and that may be for years, a monitor that can't be
// found is not looked for again.
func TestSysmonSearchEndsForGood(t *testing.T) {
	var m monitor
	m.searches.Store(math.MaxInt32)
	for range 2 {
		m.search(func() int32 { t.Error("it is looked for"); return 0 })
	}
}
