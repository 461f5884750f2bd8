package sqlrow

import (
	"fmt"
	"strings"

	"github.com/executor-go/executor/durable"
)

// numbers are what SQL replaces.
var numbers = func() *strings.Replacer {
	var pairs []string
	add := func(name string, numbers ...any) {
		text := strings.Trim(strings.ReplaceAll(fmt.Sprintln(numbers...), " ", ", "), "\n")
		if len(numbers) > 1 {
			text = "(" + text + ")"
		}
		pairs = append(pairs, "{"+name+"}", text)
	}
	for name, s := range map[string]durable.State{
		"Waiting": durable.Waiting, "Claimed": durable.Claimed, "Granted": durable.Running, "Succeeded": durable.Succeeded,
		"Dead": durable.Dead, "Canceled": durable.Canceled, "Paused": durable.Paused,
	} {
		add(name, uint8(s))
	}
	for name, p := range map[string]durable.Pending{
		"PendingNone": durable.PendingNone, "PendingCancel": durable.PendingCancel, "PendingPause": durable.PendingPause,
	} {
		add(name, uint8(p))
	}
	for name, v := range map[string]durable.Verdict{"RunSkipped": durable.RunSkipped, "RunLost": durable.RunLost} {
		add(name, uint8(v))
	}
	add("HasChildren", hasChildren)
	add("HasParents", hasParents)
	add("IsBlocked", isBlocked)
	add("IsAbsent", isAbsent)
	add("High", int(durable.High))
	add("Most", int64(Most))
	add("MostSmall", int64(MostSmall))
	add("Held", uint8(durable.Claimed), uint8(durable.Running))
	add("Idle", uint8(durable.Waiting), uint8(durable.Paused))
	add("Over", uint8(durable.Succeeded), uint8(durable.Dead), uint8(durable.Canceled))
	add("Queued", queued)
	add("AnyPriority", int(durable.High), int(durable.Normal), int(durable.Low), queued+int(durable.High), queued+int(durable.Normal), queued+int(durable.Low))
	pairs = append(pairs, "{Priorities}", fmt.Sprintf("array[%d, %d, %d]::smallint[]", durable.High, durable.Normal, durable.Low))
	return strings.NewReplacer(pairs...)
}()

// Most and MostSmall are the greatest numbers that the databases take for what only goes up: they go no further.
const (
	Most      = 1 << 62 // of epochs and runs
	MostSmall = 1 << 30 // of attempts and lost runs
)

// Sound is the condition that a row of executor_job is one that can be read and changed. The databases check it.
var Sound = SQL(`(state between {Waiting} and {Paused} and pending between {PendingNone} and {PendingPause}
	and priority - case when queue <> '' then {Queued} else 0 end between ` + fmt.Sprint(durable.Low, " and ", durable.High) + ` and (owner <> '') = (state in {Held})
	and epoch between 0 and {Most} and runs between 0 and {Most}
	and attempt between 0 and {MostSmall} and attempts between 0 and {MostSmall} and lost between 0 and {MostSmall})`)

// SQL returns a statement in which each name in braces is replaced by the number that is stored: that of a state, of
// what is pending or of a verdict, as {Granted}. {Held}, {Idle} and {Over} are lists of states, for "state in {Held}",
// {AnyPriority} is that of all priorities, as rows have them, and {Priorities} is an array of PostgreSQL, the most
// urgent first. SQL panics if a name is not known.
//
// The numbers stand in the text and are no parameters, or the planners would not see which partial index applies.
func SQL(statement string) string {
	statement = numbers.Replace(statement)
	if i := strings.IndexByte(statement, '{'); i >= 0 {
		panic(fmt.Sprintf("durable: no number has the name at %.20q", statement[i:]))
	}
	return statement
}
