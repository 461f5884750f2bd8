package main

import (
	"fmt"
	"time"

	"github.com/executor-go/executor/durable/admin"
	"github.com/spf13/cobra"
)

// mostTimes is how many times --number asks for at the most.
const mostTimes = 10_000

// timesFlags are the flags of the commands that print when jobs are due.
type timesFlags struct {
	number int
	from   string
}

func newTimesFlags(cmd *cobra.Command, number int, of string) *timesFlags {
	t := new(timesFlags)
	cmd.Flags().IntVarP(&t.number, "number", "n", number, "how many times"+of)
	cmd.Flags().StringVar(&t.from, "from", "", "begin at this time instead of now: 2027-03-27, '2027-03-27 14:00' or RFC 3339")
	return t
}

// begin returns the time of --from, which is read in a zone unless it has an offset, or now.
func (t *timesFlags) begin(loc *time.Location) (time.Time, error) {
	if t.number < 1 || t.number > mostTimes {
		return time.Time{}, fmt.Errorf("--number %d: it must be 1 to %d", t.number, mostTimes)
	}
	if t.from == "" {
		return time.Now(), nil
	}
	at, ok := admin.ParseTime(t.from, loc)
	if !ok {
		return at, fmt.Errorf("--from %s: not a time; write it as %s", t.from, admin.TimeForms)
	}
	return at, nil
}
