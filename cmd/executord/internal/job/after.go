package job

import "slices"

// Next is a job that runs after another one.
type Next struct {
	Job string `json:"job"`
	On  string `json:"on,omitempty"` // one of AfterOn; "" stands for the first
}

// AfterOn are the ends of a run after which another job may run.
var AfterOn = []string{"success", "failure", "either"}

// Follows reports whether the job runs after a run that was well, or failed.
func (n Next) Follows(well bool) bool {
	switch n.On {
	case "failure":
		return !well
	case "either":
		return true
	}
	return well
}

// Cycle returns the names of jobs of which each runs after the one before it, and the first after the last; nil if
// there are none such. Names that are no job's are left alone.
func Cycle(jobs []Job) []string {
	after := make(map[string][]string, len(jobs))
	for _, j := range jobs {
		after[j.Name] = j.After
	}
	const open, done = 1, 2
	state := make(map[string]int)
	var path []string
	var visit func(name string) []string
	visit = func(name string) []string {
		switch state[name] {
		case done:
			return nil
		case open:
			cycle := slices.Clone(path[slices.Index(path, name):])
			slices.Reverse(cycle)
			return cycle
		}
		state[name] = open
		path = append(path, name)
		for _, before := range after[name] {
			if cycle := visit(before); cycle != nil {
				return cycle
			}
		}
		path = path[:len(path)-1]
		state[name] = done
		return nil
	}
	for _, j := range jobs {
		if cycle := visit(j.Name); cycle != nil {
			return cycle
		}
	}
	return nil
}
