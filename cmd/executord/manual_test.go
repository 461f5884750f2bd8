package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executor-go/executor/cmd/executord/internal/keys"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

var update = flag.Bool("update", false, "write testdata/interface.txt, and the tables of the manual")

// goldenFile has what programs may depend on: the messages of the log with their keys, the exit codes, and the commands
// with their flags. A change of it breaks them, and belongs into the changelog.
const goldenFile = "testdata/interface.txt"

// The interface for other programs is as it was.
func TestInterfaceIsUnchanged(t *testing.T) {
	var got strings.Builder
	messages := logged(t)
	for _, msg := range slices.Sorted(maps.Keys(messages)) {
		fmt.Fprintf(&got, "log %s: %s\n", msg, strings.Join(messages[msg], " "))
	}
	for _, code := range exitCodes(t) {
		fmt.Fprintf(&got, "exit %s\n", code)
	}
	root := newRoot()
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		fmt.Fprintf(&got, "command %s: %s\n", cmd.CommandPath(), strings.Join(flagsOf(cmd), " "))
	}
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("if the change is meant, record it in CHANGELOG.md and run go test -run %s -update:\n%s", t.Name(), &got)
	}
}

// The manual has each message of the log in its table with all of its keys, and no others; and each command and exit code.
func TestManualHasInterface(t *testing.T) {
	needManual(t)
	text, err := os.ReadFile("../../docs/executord.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(text)
	_, table, _ := strings.Cut(manual, "| `msg` |")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := make(map[string][]string) // the levels and keys by message
	code := regexp.MustCompile("`([^`]+)`")
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 5 || strings.HasPrefix(cells[1], "---") {
			continue
		}
		name := strings.TrimSpace(cells[1])
		if m := code.FindStringSubmatch(name); m != nil {
			name = m[1]
		}
		keys := strings.Split(strings.TrimSpace(cells[2]), ", ")
		for _, m := range code.FindAllStringSubmatch(cells[4], -1) {
			keys = append(keys, m[1])
		}
		documented[name] = keys
	}
	for msg, keys := range logged(t) {
		named, ok := documented[msg]
		if !ok {
			t.Errorf("the manual does not have the message %q", msg)
			continue
		}
		delete(documented, msg)
		for _, key := range keys {
			if !slices.Contains(named, key) {
				t.Errorf("the manual does not have the key %s of %q", key, msg)
			}
		}
		for _, key := range named {
			implied := key == "job" || key == "run" || key == "attempt" || msg == "run ended" && key == strings.ToUpper(key)
			if !implied && !slices.Contains(keys, key) {
				t.Errorf("the manual has the key %s of %q, which has none such", key, msg)
			}
		}
	}
	for _, other := range []string{"the line itself", "durable: ...", "ui: action", "ui: action not stored"} {
		delete(documented, other)
	}
	for msg := range documented {
		t.Errorf("the manual has the message %q, which is not logged", msg)
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() == "help" {
			continue
		}
		if !regexp.MustCompile(`(?m)^executord .*\b` + cmd.Name() + `\b`).MatchString(manual) {
			t.Errorf("the manual does not list the command %s", cmd.Name())
		}
	}
	for _, code := range exitCodes(t) {
		if number, _, _ := strings.Cut(code, " "); !strings.Contains(manual, "\n| "+number+" | ") {
			t.Errorf("the manual does not have exit code %s", number)
		}
	}
}

// The tables of the keys of a job, of those of JSON and of the flags are what the program says of them.
func TestManualTablesAreWritten(t *testing.T) {
	needManual(t)
	const name = "../../docs/executord.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	manual := string(text)
	for header, rows := range map[string]string{
		"| key | | above all jobs too | in a crontab |\n|---|---|---|---|\n": keyRows(),
		"| flag | of | |\n|---|---|---|\n":                                   flagRows(),
		"| JSON of | keys | not always there |\n|---|---|---|\n":             jsonRows(),
	} {
		before, table, found := strings.Cut(manual, header)
		_, after, _ := strings.Cut(table, "\n\n")
		if !found {
			t.Fatalf("the manual has no table %q", header)
		}
		manual = before + header + rows + "\n" + after
	}
	if *update {
		if err := os.WriteFile(name, []byte(manual), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if manual != string(text) {
		t.Errorf("write the tables of the manual by go test -run %s -update", t.Name())
	}
}

// keyRows returns the rows of the keys of a job.
func keyRows() string {
	var rows strings.Builder
	yes := map[bool]string{true: "yes "}
	for _, k := range keys.All {
		fmt.Fprintf(&rows, "| `%s` | %s | %s| %s|\n", k.Name, k.Doc, yes[k.In(keys.Above)], yes[k.In(keys.Comment) || k.Name == "name"])
	}
	return rows.String()
}

// jsonRows returns the rows of the objects that commands print.
func jsonRows() string {
	var rows strings.Builder
	for _, object := range []struct {
		name string
		of   any
	}{
		{"`jobs`: a job", view.Job{}}, {"`runs`: a run", view.Run{}}, {"`check`", checked{}}, {"`check`: a mistake or a note", remark{}},
		{"`check`: a job", checkedJob{}}, {"`next`: a time", due{}}, {"`notices`: a message", notify.Notice{}},
	} {
		var names [2][]string
		for field := range reflect.TypeOf(object.of).Fields() {
			key, omit, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key == "" || key == "-" {
				continue
			}
			i := 0
			if omit != "" {
				i = 1
			}
			names[i] = append(names[i], "`"+key+"`")
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", object.name, strings.Join(names[0], ", "), strings.Join(names[1], ", "))
	}
	return rows.String()
}

// flagRows returns the rows of the flags: one for all commands in which a flag means the same.
func flagRows() string {
	type meaning struct{ shown, usage string }
	of := make(map[meaning][]string)
	for _, cmd := range newRoot().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			shown := "`--" + f.Name
			switch kind := f.Value.Type(); {
			case kind == "bool":
			case strings.Contains(kind, "|"):
				shown += " " + strings.ReplaceAll(kind, "|", "\\|")
			default:
				shown += " ..."
			}
			if shown += "`"; f.Shorthand != "" {
				shown += ", `-" + f.Shorthand + "`"
			}
			usage := strings.ReplaceAll(f.Usage, "|", "\\|")
			if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
				usage += "; the default is " + strings.TrimSuffix(f.DefValue, "0m0s")
			}
			m := meaning{shown, usage}
			of[m] = append(of[m], "`"+cmd.Name()+"`")
		})
	}
	var rows []string
	for m, commands := range of {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", m.shown, strings.Join(commands, ", "), m.usage))
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// flagsOf returns the flags of a command, as --store.
func flagsOf(cmd *cobra.Command) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[\w-]+)`).FindAllStringSubmatch(cmd.LocalFlags().FlagUsages(), -1) {
		if m[1] != "--help" {
			names = append(names, m[1])
		}
	}
	return names
}

// exitCodes returns the exit codes with their names.
func exitCodes(t *testing.T) (codes []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, "exit") {
			codes = append(codes, spec.Values[0].(*ast.BasicLit).Value+" "+spec.Names[0].Name)
		}
		return true
	})
	return codes
}

// logged returns the messages that the sources log, each with its level and its keys: those of the call, or of a slice
// of attributes that its function makes.
func logged(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string]map[string]bool)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		constants := make(map[string]string)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				if text := literal(spec.Values[0]); text != "" {
					constants[spec.Names[0].Name] = text
				}
			}
			return true
		})
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				messagesOf(fn, constants, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for msg, keys := range found {
		all[msg] = slices.Sorted(maps.Keys(keys))
	}
	return all
}

// messagesOf adds the messages that a function logs.
func messagesOf(fn *ast.FuncDecl, constants map[string]string, found map[string]map[string]bool) {
	var shared []string // keys in slices
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if array, ok := n.Type.(*ast.ArrayType); ok {
				if elem, ok := array.Elt.(*ast.Ident); ok && elem.Name == "any" {
					shared = append(shared, keysOf(n.Elts)...)
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "append" && len(n.Args) > 2 {
				shared = append(shared, keysOf(n.Args[1:])...)
			}
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "slog" && len(n.Args) == 2 {
					shared = append(shared, literal(n.Args[0]))
				}
			}
		}
		return true
	})
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		args, level := call.Args, ""
		switch sel.Sel.Name {
		case "Info", "Warn", "Error":
			level = strings.ToUpper(sel.Sel.Name)
		case "LogAttrs":
			args = args[2:] // the level is not a constant
		default:
			return true
		}
		if len(args) == 0 {
			return true
		}
		msg := literal(args[0])
		if name, ok := args[0].(*ast.Ident); ok {
			msg = constants[name.Name]
		}
		if msg == "" {
			return true
		}
		if found[msg] == nil {
			found[msg] = make(map[string]bool)
		}
		keys := keysOf(args[1:])
		if call.Ellipsis.IsValid() {
			keys = append(keys, shared...)
		}
		for _, key := range append(keys, level) {
			found[msg][key] = true
		}
		delete(found[msg], "")
		return true
	})
}

// keysOf returns the keys in a list of keys and values.
func keysOf(args []ast.Expr) (keys []string) {
	for i := 0; i < len(args); i += 2 {
		if key := literal(args[i]); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// literal returns the text of a string, "" for anything else.
func literal(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		return text
	}
	return ""
}

// needManual skips a test where the manual and the examples are not there: they are in
// the repository, but not in the zip of the module.
func needManual(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../../go.work"); os.IsNotExist(err) {
		t.Skip("the manual is in the repository only")
	}
}
