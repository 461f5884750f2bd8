package repo

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The Go code that tutorials, how-tos and the manual of durable show is code of the files they link to, line for line, so that it compiles and
// is tested. A tutorial, and that manual, show all of their program, from the package clause on.
func TestShownCodeIsOfPrograms(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]+\.go)\)`)
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	checked := 0
	for _, page := range documents(t) {
		dir := filepath.ToSlash(filepath.Dir(page))
		manual := filepath.ToSlash(page) == "docs/durable.md"
		if dir != "docs/tutorials" && dir != "docs/how-to" && !manual {
			continue
		}
		text := read(t, page)
		var files []*shownFile
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			files = append(files, newShownFile(read(t, filepath.Join(dir, m[1]))))
		}
		blocks := block.FindAllStringSubmatch(text, -1)
		for _, b := range blocks {
			checked++
			found := false
			for _, f := range files {
				found = f.show(b[1]) || found
			}
			if !found {
				t.Errorf("%s: no Go file that the page links to has these lines; copy them from there:\n%s", page, b[1])
			}
		}
		if dir == "docs/how-to" || len(blocks) == 0 {
			continue
		}
		if line := files[0].missing(); line != "" {
			t.Errorf("%s does not show all of the first program that it links to; this line is missing:\n%s", page, line)
		}
	}
	if checked < 5 {
		t.Errorf("found only %d blocks of Go: are the pages read right?", checked)
	}
}

// shownFile is a Go file of which pages show parts.
type shownFile struct {
	lines []string
	shown []bool
}

func newShownFile(text string) *shownFile {
	lines := strings.Split(text, "\n")
	return &shownFile{lines, make([]bool, len(lines))}
}

// show marks the lines of a block as shown, and reports whether they are in the file, one after the other. The block
// may be moved to the left as a whole.
func (f *shownFile) show(block string) (found bool) {
	want := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for i := range f.lines {
		if i+len(want) > len(f.lines) {
			break
		}
		indent, ok := strings.CutSuffix(f.lines[i], want[0])
		if !ok || strings.Trim(indent, "\t") != "" {
			continue
		}
		same := true
		for k, line := range want {
			if line != "" {
				line = indent + line
			}
			same = same && f.lines[i+k] == line
		}
		if same {
			found = true
			for k := range want {
				f.shown[i+k] = true
			}
		}
	}
	return found
}

// missing returns the first line, from the package clause on, that has text and was not shown.
func (f *shownFile) missing() string {
	program := false
	for i, line := range f.lines {
		program = program || strings.HasPrefix(line, "package ")
		if program && line != "" && !f.shown[i] {
			return line
		}
	}
	return ""
}
