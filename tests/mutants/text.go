package main

// textMutants break what futures and pools say of themselves in a log.
var textMutants = []mutant{
	{
		file: "text.go", what: "the text of a future brings the stack of a panic",
		old: `line, _, _ := strings.Cut(reason(err), "\n")`,
		new: `line, _, _ := strings.Cut(reason(err), "\x00")`,
	},
	{
		file: "text.go", what: "the text of a future that failed gives the cause of a cancellation",
		old: "s == Canceled && errors.As",
		new: "errors.As",
	},
	{
		file: "text.go", what: "the text of a future that was canceled by hand says so twice",
		old: "err == ErrCanceled {",
		new: "err == nil {",
	},
	{
		file: "text.go", what: "the text of a future that runs says when it was due",
		old: "if f.State() != Pending {",
		new: "if f.State().Done() {",
	},
	{
		file: "text.go", what: "a name is not quoted",
		old: "strconv.Quote(name)",
		new: "name",
	},
}
