//go:build unix

package main

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A zone database that changes while the daemon runs takes no job of that zone away when the file is read again, with a
// store and without.
func TestRunGoesOnWithChangedZones(t *testing.T) {
	for name, args := range map[string]func() []string{
		"store":  func() []string { return []string{"--store", filepath.Join(t.TempDir(), "jobs.db")} },
		"memory": func() []string { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(of string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "Berlin"), zoneData(t, "Europe/"+of), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			put("Berlin")
			file := write(t, "tab", "CRON_TZ=Berlin\n# name: daily\n30 2 * * * echo up\nCRON_TZ=UTC\n# name: tick\n@every 1s true\n")
			cmd := executord(t, append([]string{"run", file}, args()...)...)
			cmd.Env = append(cmd.Env, "ZONEINFO="+dir)
			p := startCommand(t, cmd)
			first := p.until("job scheduled", "job", "daily")
			put("Paris") // which had other rules until 1980
			write2 := "CRON_TZ=Berlin\n# name: daily\n30 2 * * * echo up\n# name: more\n31 2 * * * echo more\n"
			if err := os.WriteFile(file, []byte(write2), 0o644); err != nil {
				t.Fatal(err)
			}
			p.signal(syscall.SIGHUP)
			again := p.until("job scheduled", "job", "daily")
			if again["change"] != "unchanged" || again["next"] != first["next"] {
				t.Errorf("after the change: %v; before: %v", again, first)
			}
			p.after(0, "job scheduled", "job", "more", "change", "new")
			p.end()
		})
	}
}

// zoneData returns the rules of a zone of Go's own database.
func zoneData(t *testing.T, name string) []byte {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	all, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	file, err := all.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
