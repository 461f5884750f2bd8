package repo

import (
	"cmp"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readmeBlocks returns the blocks of code in README, but for the commands: the word after the fence, and the text.
func readmeBlocks(t *testing.T) [][]string {
	t.Helper()
	blocks := regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(read(t, "README.md"), -1)
	blocks = slices.DeleteFunc(blocks, func(b []string) bool { return b[1] == "sh" })
	if len(blocks) != 4 || blocks[0][1] != "go" || blocks[1][1] != "" || blocks[2][1] != "go" || blocks[3][1] != "" {
		t.Fatal("README must have a block of Go, which is a whole program, one of its output, one of Go, and a crontab")
	}
	return blocks
}

// What README shows of durable and of executord stands in the programs to which it links.
func TestReadmeShowsPrograms(t *testing.T) {
	blocks := readmeBlocks(t)
	for i, file := range map[int]string{2: "examples/durable/welcome/main.go", 3: "examples/jobs.crontab"} {
		if !strings.Contains(read(t, file), blocks[i][2]) {
			t.Errorf("README shows what %s does not have:\n%s", file, blocks[i][2])
		}
	}
}

// README's program runs as it is, and prints what README says.
func TestReadmeProgram(t *testing.T) {
	blocks := readmeBlocks(t)
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err) // the tests are built on one machine and run on another
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(blocks[0][2]), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(tool, "run", file)
	run.Env = append(os.Environ(), "GOWORK=off") // the core needs no other module
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := string(out), blocks[1][2]; got != want {
		t.Errorf("README's program prints\n%s\nand README says\n%s", got, want)
	}
}

// Every link from one document of the repository to another leads somewhere, and to a heading that is there.
func TestDocumentLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?[^)]*\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	anchors := 0
	for _, file := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, file), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := file
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(file), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if m[2] == "" || !strings.HasSuffix(to, ".md") {
				continue
			}
			anchors++
			if !slices.Contains(headings(read(t, to)), m[2]) {
				t.Errorf("%s: there is no heading #%s in %s", file, m[2], to)
			}
		}
	}
	if anchors < 50 {
		t.Errorf("found only %d links to headings: are the pages read right?", anchors)
	}
}

// headings returns the anchors of a document's headings, as GitHub makes them.
func headings(text string) (anchors []string) {
	block := regexp.MustCompile("(?s)```.*?```")
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	other := regexp.MustCompile(`[^\pL\pN_ -]`)
	for _, m := range heading.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		words := other.ReplaceAllString(link.ReplaceAllString(m[1], "$1"), "")
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(words), " ", "-"))
	}
	return anchors
}

// The sources, functions and tests in the table of docs/design/architecture.md that
// answers where to look are there.
func TestWhereToLookExists(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/design/architecture.md"), "| question | source | test | lock |\n")
	name := regexp.MustCompile("`([\\w/.]+)`")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 {
			continue
		}
		rows++
		source := ""
		for _, m := range name.FindAllStringSubmatch(cells[1], -1) {
			if strings.HasSuffix(m[1], ".go") {
				source = m[1]
				continue
			}
			declared := regexp.MustCompile(`(?m)^func (\(.*?\) )?` + m[1] + `\(`)
			if !declared.MatchString(read(t, source)) {
				t.Errorf("docs/design/architecture.md: %s does not declare %s", source, m[1])
			}
		}
		for _, m := range name.FindAllStringSubmatch(cells[2], -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("docs/design/architecture.md: %v; name the file that took its place", err)
			}
		}
	}
	if rows < 5 {
		t.Errorf("found only %d rows: is the table read right?", rows)
	}
}

// The functions in the drawings of architecture.md that show the way of a job and of a run are in the packages named there.
func TestWaysNameFunctions(t *testing.T) {
	files, _ := workspace(t)
	declared := make(map[string]bool) // by directory and name
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !f.test {
				declared[f.dir+" "+fn.Name.Name] = true
			}
		}
	}
	steps := 0
	for _, step := range regexp.MustCompile(`(?m)^ [a-z0-9 ]{9}([a-z/]+) {2,}(\w+(?: ─▶ \w+)*) {2,}`).FindAllStringSubmatch(read(t, "docs/design/architecture.md"), -1) {
		if step[1] == "in" {
			continue // the head of the columns
		}
		steps++
		for name := range strings.SplitSeq(step[2], " ─▶ ") {
			if !slices.ContainsFunc([]string{"", "durable/", "cmd/", "cmd/executord/internal/"}, func(above string) bool {
				return declared[above+step[1]+" "+name]
			}) {
				t.Errorf("docs/design/architecture.md: there is no function %s in %s", name, step[1])
			}
		}
	}
	if steps < 40 {
		t.Errorf("found only %d steps: are the drawings read right?", steps)
	}
}

// The names that the pages for those who come from Java or another library have for ours are exported: they are words of
// the files in api, which the program writes.
func TestNamesOfOursExist(t *testing.T) {
	words := make(map[string]map[string]bool) // of the packages whose names the pages begin with
	for _, name := range []string{"executor", "cron", "durable", "queue"} {
		words[name] = make(map[string]bool)
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(read(t, "api/"+name+".txt"), -1) {
			words[name][word] = true
		}
	}
	in := map[string]string{"": "executor", "pool": "executor", "sched": "executor", "future": "executor", "series": "executor", "jobs": "durable", "email": "durable"}
	for page, ours := range map[string]struct {
		cell func(cells []string) string
		name string
	}{
		"docs/java.md": {func(cells []string) string { return cells[min(1, len(cells)-1)] }, "`(?:(queue|cron)\\.)?([A-Z]\\w*)(?:\\.(\\w+))?(?:\\[T\\])?`"},
		"docs/migrating.md": {func(cells []string) string { return cells[len(cells)-1] },
			`\b(executor|cron|durable|queue|pool|sched|future|series|jobs|email)\.([A-Z]\w*)()`},
	} {
		names := 0
		for line := range strings.Lines(read(t, page)) {
			if strings.HasPrefix(line, "|") {
				line = ours.cell(strings.Split(strings.TrimSuffix(line, " |\n"), " | "))
			} else if page == "docs/java.md" {
				continue
			}
			for _, m := range regexp.MustCompile(ours.name).FindAllStringSubmatch(line, -1) {
				names++
				known := words[cmp.Or(in[m[1]], m[1])]
				if !known[m[2]] || m[3] != "" && !known[m[3]] {
					t.Errorf("%s: there is no %s", page, m[0])
				}
			}
		}
		if names < 80 {
			t.Errorf("found only %d names in %s: is it read right?", names, page)
		}
	}
}
