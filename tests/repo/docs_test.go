package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// The names that docs/java.md has for Java's are exported.
func TestJavaNamesExist(t *testing.T) {
	exported := exports(t, ".")
	for name := range exports(t, "queue") {
		exported["queue."+name] = true
	}
	for name := range exports(t, "cron") {
		exported["cron."+name] = true
	}
	name := regexp.MustCompile("`((?:queue\\.|cron\\.)?[A-Z]\\w*(?:\\.\\w+)?)(?:\\[T\\])?`")
	names := 0
	for line := range strings.Lines(read(t, "docs/java.md")) {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(cells[1], -1) {
			names++
			if !exported[m[1]] {
				t.Errorf("docs/java.md: there is no %s", m[1])
			}
		}
	}
	if names < 100 {
		t.Errorf("found only %d names: is the table read right?", names)
	}
}

// exports returns the exported names of a package's directory: F, T, and T.M for
// methods and fields.
func exports(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d.Recv.List[0].Type) + "." + name
				}
				names[name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, field := range st.Fields.List {
								for _, id := range field.Names {
									names[s.Name.Name+"."+id.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, id := range s.Names {
							names[id.Name] = true
						}
					}
				}
			}
		}
	}
	// What a future promotes from its untyped part.
	for name := range names {
		if m, ok := strings.CutPrefix(name, "task."); ok && ast.IsExported(m) {
			names["Future."+m] = true
		}
	}
	return names
}

func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
