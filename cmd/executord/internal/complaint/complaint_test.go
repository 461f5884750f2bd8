package complaint

import (
	"os"
	"testing"
	"time"
)

// What is written to a reader that takes nothing is given up, once for all.
func TestBoundedWriterGivesUp(t *testing.T) {
	read, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer full.Close()
	full.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	for err == nil {
		_, err = full.Write(make([]byte, 4<<10))
	}
	full.SetWriteDeadline(time.Time{})
	w := &boundedWriter{to: full, patience: time.Millisecond}
	for range 3 {
		if n, err := w.Write([]byte("late\n")); n != 5 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
}
