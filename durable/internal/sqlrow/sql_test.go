package sqlrow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// A name in braces becomes the number that is stored, or a list of them.
func TestSQLReplacesNames(t *testing.T) {
	got := sqlrow.SQL("state = {Dead} or state in {Held} and pending <> {PendingCancel} and verdict = {RunLost} and priority = any({Priorities})")
	want := "state = 4 or state in (1, 2) and pending <> 1 and verdict = 4 and priority = any(array[1, 0, -1]::smallint[])"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A name that is not known is found when the program starts.
func TestSQLPanicsOnUnknownNames(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "{Asleep}") {
			t.Errorf("panicked with %q", text)
		}
	}()
	sqlrow.SQL("state = {Asleep}")
}

// bare are the ways in which a stored number may stand in a statement without its name.
var bare = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(state|was|pending|wish|verdict|priority)\s*(=|<>|<=?|>=?|(not )?in)\s*\(?-?\d`),
	regexp.MustCompile(`(?is)\b(state|pending) = case\b[^,]*?\b(then|else) \d`),
	regexp.MustCompile(`(?is)\bcase (\w\.)?(state|pending) when \d`),
}

// No statement has the number of a state, of what is pending, of a verdict or of a priority in it: it has the name.
func TestStatementsHaveNoBareNumbers(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "sqlrow/sql_test.go") {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, re := range bare {
				if found := re.FindString(text); found != "" {
					t.Errorf("%s: %q: write the name in braces, and the statement with sqlrow.SQL", set.Position(lit.Pos()), found)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 50 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}
