package world

import (
	"os"
	"path/filepath"
	"testing"
)

// What was done for a key is not done again, also after the process was killed in the middle of a line, and the answer
// is the same.
func TestLedgerKeepsReceipts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ledger.txt")
	var receipts [2]string
	for i := range receipts {
		l, err := OpenLedger(name)
		if err != nil {
			t.Fatal(err)
		}
		if l.Done("charge", "order-1") != (i > 0) {
			t.Errorf("before call %d: done is %t", i, i == 0)
		}
		if receipts[i], err = l.Do("charge", "order-1", "1.00"); err != nil {
			t.Fatal(err)
		}
		if _, err := l.file.WriteString("2026-11-27T02:00:00Z charge ord"); err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	entries, err := ReadLedger(name)
	if err != nil || len(entries) != 2 || entries[0].Again || !entries[1].Again || receipts[0] != receipts[1] {
		t.Errorf("receipts %q, entries %+v, %v; want the same receipt for a first and a second call", receipts, entries, err)
	}
	if _, err := ReadLedger(name + ".missing"); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
