//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hostileFiles are job files that are meant to do harm: what is larger, deeper, longer or more than any other, or is no
// text.
func hostileFiles(size int) map[string]string {
	fill := func(piece string, n int) string { return strings.Repeat(piece, n/len(piece)) }
	job := "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\n"
	files := map[string]string{
		"empty": "", "a line end": "\n", "no line end": "@daily true", "zeros": fill("\x00", size), "ones": fill("\xff", size),
		"UTF-16": "\xff\xfe" + fill("*\x00 \x00", 4096), "UTF-16 big": "\xfe\xff" + fill("\x00*", 4096), "UTF-7": "+/v8-@daily true",
		"BOM": "\ufeff@daily true\n", "two BOMs": "\ufeff\ufeff@daily true\n", "old Mac": fill("@daily true\r", size), "ELF": "\x7fELF" + fill("\x01\x02", 4096),
		"gzip": "\x1f\x8b\x08" + fill("\x00\xff", 4096), "form feed": fill("\f", size), "blanks": fill(" ", size), "tabs": fill("\t", size),
		"too large": fill("# comment\n", 1<<20) + fill("#", 20), "a long line": "@daily " + fill("x", size-20) + "\n", "long lines": fill("@daily "+fill("x", 60_000)+"\n", size),
		"a long comment": "#" + fill("x", size-2), "a long name": "# name: " + fill("x", size-100) + "\n@daily true\n", "names": fill("# name: a\n", size),
		"x": fill("x\n", size), "stars": fill("* ", size), "star lines": fill("*\n", size), "commas": fill(",", size) + " * * * * true",
		"a list": fill("1,", 60_000) + "1 * * * * true\n", "dashes": fill("-", size), "slashes": "*" + fill("/1", 60_000) + " * * * * true", "numbers": fill("9", 60_000) + " * * * * true\n",
		"percents": "@daily true " + fill("%", 60_000) + "\n", "escaped percents": "@daily true " + fill(`\%`, 60_000) + "\n", "backslashes": fill(`\`, size),
		"settings": fill("A=b\n", size/4) + "@daily true\n", "a long setting": "A=" + fill("b", 60_000) + "\n@daily true\n", "equals": fill("=", size), "quotes": fill("'", size),
		"zones": fill("CRON_TZ=../../etc/passwd\n", size), "a zone of slashes": "CRON_TZ=" + fill("/", 60_000) + "\n@daily true\n", "escapes": fill("\x1b[2J\n", size),
		"bells": fill("\a", 60_000), "bidi": fill("\u202e@daily true\n", size), "wide digits": fill("５ * * * * true\n", size), "ats": fill("@", size), "words": fill("@x y\n", size),
		"every": fill("@every 1ns true\n", size), "long every": "@every " + fill("9", 60_000) + "h true\n", "jobs": fill("@daily true\n", size), "minutes": fill("* * * * * true\n", size/8),

		"jobs.toml": fill(strings.Replace(job, "'a'", "'a'", 1), size), "headers.toml": fill("[[job]]\n", size), "half headers.toml": fill("[[\n", size), "tables.toml": fill("[env]\n", size),
		"dots.toml": "a" + fill(".a", size-20) + " = 1\n", "deep list.toml": "job = " + fill("[", size-20), "deep table.toml": "job = " + fill("{a=", size-20),
		"inline jobs.toml": "job=[" + fill("{},", size-20) + "]", "numbers.toml": job + "stdin=[" + fill("1,", size-200) + "]", "bad escapes.toml": `a = "` + fill(`\q`, size-20) + `"`,
		"long text.toml": job + "stdin = '" + fill("x", size-200) + "'\n", "open text.toml": job + "stdin = '''" + fill("x\n", size-200), "control.toml": fill("\x01", size), "keys.toml": manyKeys(size),
		"env.toml": manyEnvs(size), "timeouts.toml": job + "timeout = '9999999999h'\n", "nan.toml": job + "timeout = nan\n", "dates.toml": job + "timeout = 1979-05-27T07:32:00Z\n", "unicode keys.toml": fill("\"\\u0000\" = 1\n", size),
	}
	return files
}

// manyKeys returns a table of many keys.
func manyKeys(size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size-20; n++ {
		fmt.Fprintf(&b, "k%d = 1\n", n)
	}
	return b.String()
}

// manyEnvs returns jobs with a table of variables each, below one of many.
func manyEnvs(size int) string {
	var b strings.Builder
	b.WriteString("[env]\n")
	for n := 0; b.Len() < size/2; n++ {
		fmt.Fprintf(&b, "A%d=''\n", n)
	}
	for n := 0; b.Len() < size-100; n++ {
		fmt.Fprintf(&b, "[[job]]\nname='j%d'\nschedule='@daily'\ncommand='true'\nenv={}\n", n)
	}
	return b.String()
}

// Whatever is in a job file, check says what is wrong with it, or when its jobs are due.
// It does not panic or hang, says no more than can be read, and takes memory in proportion.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	// 87,000 jobs and the table of their times are 150 MB. The collector lets a heap grow to twice what lives, and further
	// while it marks on a busy machine: 295 to 340 MB were seen.
	const mostMemory, mostSaid = 512 << 20, 2 << 20
	size := 64 << 10
	if os.Getenv("EXECUTOR_LONG") != "" {
		size = 1 << 20 // the largest file that is read
	}
	files, dir := hostileFiles(size), t.TempDir()
	if len(files) < 60 {
		t.Fatalf("%d files", len(files))
	}
	var all [][]string
	for name, text := range files {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, []string{"check", path})
	}
	cmd := executord(t)
	_, answers := inTurn(t, cmd, all)
	for i, a := range answers {
		name := filepath.Base(all[i][1])
		if a.code != exitOK && a.code != exitMistake {
			t.Errorf("%s: exit code %d, %.300q", name, a.code, a.said)
		}
		if a.code == exitMistake && a.said == "" || len(a.said) > mostSaid {
			t.Errorf("%s: %d bytes of what is wrong", name, len(a.said))
		}
		harmless(t, name, strings.ReplaceAll(a.said, "\t", ""))
	}
	if took := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; took > mostMemory && !withRace {
		t.Errorf("they took %d MB", took>>20)
	}
}
