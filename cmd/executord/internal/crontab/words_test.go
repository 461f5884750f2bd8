package crontab

import "testing"

// A script leaves a command in the background if it starts one by & and does not wait for it.
func TestLeavesBackground(t *testing.T) {
	for script, want := range map[string]bool{
		"a &":                              true,
		"a&":                               true,
		"a & # restart":                    true,
		"(a; b) &":                         true,
		"(a &)":                            true,
		"a & b":                            true,
		"nohup a > /dev/null 2>&1 &":       true,
		"if [ -d x ]; then b; else a & fi": true,
		"a & wait; b &":                    true,
		"{ a & } && b":                     true,
		"a":                                false,
		"a && b":                           false,
		"a 2>&1":                           false,
		"a >& log":                         false,
		"a &> log":                         false,
		"a &>> log; b":                     false,
		`a \&`:                             false,
		"a '&'":                            false,
		`a "b & c"`:                        false,
		"a x=$(b & c)":                     false,
		"a # b &":                          false,
		"a & b & wait":                     false,
		"a & if b; then wait $!; fi":       false,
		"curl http://x/?a=1\\&b=2":         false,
		"a & wait -n":                      false,
		"":                                 false,
	} {
		if got := LeavesBackground(script); got != want {
			t.Errorf("%q: %t, want %t", script, got, want)
		}
	}
}
