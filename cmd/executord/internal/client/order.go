package client

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/durable/admin"
)

// The actions on jobs of executord that package admin does not have.
const (
	EndRun      admin.Verb = "end-run"
	ExcludeNext admin.Verb = "exclude-next"
)

// Actions are all ways of changing a job. The words are documented.
var Actions = []admin.Verb{admin.RunNow, admin.Pause, admin.Resume, ExcludeNext, EndRun, admin.Cancel}

// Order is what somebody asks to be done to a job.
type Order struct {
	Do  admin.Verb
	Job string   // its name
	Run int64    // for EndRun: its number, 0 for the one that is in progress
	Set []string // for RunNow: parameters of the run, each NAME=value

	// Until is for Pause: when the job is resumed, as admin.ParseWhen takes it; "" for not by itself. From now on is on
	// the clock of the store.
	Until string
}

// setPrefix begins the names of the fields of a form that are parameters of a run. It is documented.
const setPrefix = "set."

// Form returns the order as the form that a daemon takes.
func (o Order) Form() (url.Values, error) {
	v := url.Values{"do": {string(o.Do)}, "job": {o.Job}}
	if o.Run > 0 {
		v.Set("run", strconv.FormatInt(o.Run, 10))
	}
	if o.Until != "" {
		v.Set("until", o.Until)
	}
	for _, one := range o.Set {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			return nil, fmt.Errorf("--set %s: write it as NAME=value", one)
		}
		v.Add(setPrefix+name, value)
	}
	return v, nil
}

// ParseOrder reads a form. An error says what is wrong with it.
func ParseOrder(v url.Values) (o Order, err error) {
	o = Order{Do: admin.Verb(v.Get("do")), Job: v.Get("job")}
	if !slices.Contains(Actions, o.Do) {
		return o, fmt.Errorf("unknown action %.20q; known are %s, for a node drain and undrain, and for a channel test-channel", string(o.Do), list(Actions))
	}
	if o.Job == "" {
		return o, errors.New("the name of the job is missing")
	}
	if text := v.Get("run"); text != "" {
		if o.Run, err = strconv.ParseInt(text, 10, 64); err != nil || o.Run < 1 {
			return o, errors.New("run must be the number of a run")
		}
	}
	o.Until = v.Get("until")
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if name, ok := strings.CutPrefix(key, setPrefix); ok {
			for _, value := range v[key] {
				o.Set = append(o.Set, name+"="+value)
			}
		}
	}
	return o, o.Check()
}

// Check returns what is wrong with an order.
func (o Order) Check() error {
	_, err := admin.ParseWhen(o.Until, time.UTC)
	switch {
	case o.Until != "" && err != nil:
		return fmt.Errorf("until %w", err)
	case o.Until != "" && o.Do != admin.Pause:
		return fmt.Errorf("until is for %s", admin.Pause)
	case o.Run > 0 && o.Do != EndRun:
		return fmt.Errorf("the number of a run is for %s", EndRun)
	case len(o.Set) > 0 && o.Do != admin.RunNow:
		return fmt.Errorf("parameters are for %s", admin.RunNow)
	}
	return nil
}

// list returns words as a text.
func list[T ~string](words []T) string {
	var text strings.Builder
	for i, word := range words {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(string(word))
	}
	return text.String()
}
