package round

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildBase compiles this program as it is in another tree: in the directory rev, or at
// the git revision rev of the repository at root. It returns the path of the program.
// The caller removes the directory of that path.
func BuildBase(ctx context.Context, root, rev string) (program string, err error) {
	dir, err := os.MkdirTemp("", "bench-base")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	tree := rev
	if info, err := os.Stat(rev); err != nil || !info.IsDir() {
		if tree, err = archive(ctx, root, rev, dir); err != nil {
			return "", err
		}
	}
	program = filepath.Join(dir, "bench")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./bench")
	build.Dir = tree
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./bench of %s: %w\n%s", rev, err, out)
	}
	return program, nil
}

// archive writes the tree of a revision to a directory in dir, which it returns. Unlike a
// worktree it leaves nothing in .git.
func archive(ctx context.Context, root, rev, dir string) (tree string, err error) {
	tree = filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "tree.tar")
	git := exec.CommandContext(ctx, "git", "-C", root, "archive", "-o", file, rev)
	if out, err := git.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s is neither a directory nor a revision: %w\n%s", rev, err, out)
	}
	if out, err := exec.CommandContext(ctx, "tar", "-x", "-f", file, "-C", tree).CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("tar: %w", err), errors.New(string(out)))
	}
	return tree, os.Remove(file)
}
