// Package dockerfile reads what a Dockerfile says of how its image is run.
package dockerfile

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// Image is how an image is run.
type Image struct {
	User       string // as "10001:10001"
	Dir        string
	Env        []string
	Entrypoint []string
	Arguments  []string
	Volume     string
	Port       string // as "8384"
	Health     Health
}

// Health is how a container is examined.
type Health struct {
	Command                        []string
	Interval, Timeout, StartPeriod time.Duration
}

// Read returns what the last stage of a Dockerfile says, which must be FROM scratch.
func Read(name string) (i Image, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return i, err
	}
	stages := strings.Split(string(text), "\nFROM ")
	for line := range strings.Lines(stages[len(stages)-1]) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		var list []string
		if at := strings.Index(rest, "["); at >= 0 {
			err = json.Unmarshal([]byte(rest[at:]), &list)
		}
		switch word {
		case "", "COPY":
		case "scratch":
			i.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"} // as of Docker
		case "USER":
			i.User = rest
		case "WORKDIR":
			i.Dir = rest
		case "VOLUME":
			i.Volume = rest
		case "EXPOSE":
			i.Port = rest
		case "ENV":
			i.Env = append(i.Env, rest)
		case "HEALTHCHECK":
			i.Health.Command = list
			for field := range strings.FieldsSeq(rest) {
				name, value, _ := strings.Cut(field, "=")
				to := map[string]*time.Duration{
					"--interval": &i.Health.Interval, "--timeout": &i.Health.Timeout, "--start-period": &i.Health.StartPeriod,
				}[name]
				if to != nil && err == nil {
					*to, err = time.ParseDuration(value)
				}
			}
		case "ENTRYPOINT":
			i.Entrypoint = list
		case "CMD":
			i.Arguments = list
		default:
			err = fmt.Errorf("%s is not known here", word)
		}
		if err != nil {
			return i, fmt.Errorf("%s: %q: %w", name, line, err)
		}
	}
	return i, nil
}
