package engine

// A Unit is what an engine runs. It is a plain function, the task of a future, one of a
// group, a series: the engine can't tell.
type Unit interface {
	// Slot returns where the engine notes the place of the unit in its queue: the same one
	// each time. It is nil for a unit that leaves the queue only by a worker, or with all
	// others. Slot is called under the lock of the engine.
	Slot() *Slot

	// Outcome returns how the unit has ended, or None. It is called under the lock of the
	// engine.
	Outcome() Outcome

	// Do does the work, by a worker, with no lock held, and sets w.Outcome before it
	// returns. A panic, or runtime.Goexit, goes to Config.Lost.
	Do(w *Worker)
}

// Outcome is how a unit has ended, as it is counted.
type Outcome uint8

const (
	Succeeded Outcome = iota
	Failed
	Canceled

	// It was rejected, or accepted and then evicted:
	NoRoom   // there was neither room nor a worker
	Closed   // the engine was shut down
	Expired  // its submitter stopped waiting
	Evicted  // it waited, and another one took its place
	Panicked // what decided about it panicked
	numOutcomes

	None  // it has not ended
	Again // this run has ended, and the unit is to wait for its next one
)

// NumOutcomes is how many outcomes a unit that has ended can have.
const NumOutcomes = int(numOutcomes)

// Over reports whether o is the outcome of a unit that has ended.
func (o Outcome) Over() bool { return o < numOutcomes }

// Slot is where a unit is in its engine: nowhere, in a place of the queue, in one among those
// that wait to run again, or aside, which is neither in a queue nor with a worker, and not
// ended. The zero Slot is nowhere. It is guarded by the engine's lock.
//
//	nowhere ─▶ place ─▶ nowhere              queued; taken by a worker, or left
//	             └────▶ aside ─▶ nowhere     taken out, or given up; ended
//
// A Slot also has a mark: another unit waits for this one; see lend.go. It stays until the unit has ended.
type Slot struct{ bits int32 } // twice the code of where it is, and 1 if it is marked

// The codes of where a unit is. One that waits in the queue has a positive code: 1 more than its place. One among those
// that wait to run again has -2 less its place; see setLater.
const (
	nowhere = 0
	aside   = -1
)

func (s *Slot) code() int32     { return s.bits >> 1 }
func (s *Slot) setCode(c int32) { s.bits = c<<1 | s.bits&1 }
func (s *Slot) isWanted() bool  { return s.bits&1 != 0 }
func (s *Slot) markWanted()     { s.bits |= 1 }
func (s *Slot) reset()          { s.bits = 0 }

// Place returns the place in the queue, or false if the unit is not there.
func (s *Slot) Place() (place int, ok bool) { return int(s.code()) - 1, s.code() > 0 }

// Set notes a place in the queue.
func (s *Slot) Set(place int) { s.setCode(int32(place) + 1) }

// Clear notes that the unit is nowhere.
func (s *Slot) Clear() { s.setCode(nowhere) }

// placed notes the place of u, if it has a slot.
func placed(u Unit, place int) {
	if s := u.Slot(); s != nil {
		s.Set(place)
	}
}

// unplaced notes that u has left the queue, and returns it.
func unplaced(u Unit) Unit {
	if s := u.Slot(); s != nil {
		s.Clear()
		if isLease(u) {
			s.reset() // for the next time that it is asked for
		}
	}
	return u
}

func allUnplaced(us []Unit) []Unit {
	for _, u := range us {
		unplaced(u)
	}
	return us
}
