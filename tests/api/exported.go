package main

import (
	"errors"
	"fmt"
	"go/constant"
	"go/parser"
	"go/types"
	"slices"
	"strings"

	"github.com/executor-go/executor/tests/internal/load"
)

// exported returns a line for each declaration that a package exports, sorted.
func exported(program *load.Program, pkg *load.Package) ([]string, error) {
	files, err := program.Parse(pkg, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	checked, errs := program.Check(pkg, files, nil)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	l := listing{pkg: checked}
	for _, name := range checked.Scope().Names() {
		if object := checked.Scope().Lookup(name); object.Exported() {
			l.object(object)
		}
	}
	slices.Sort(l.lines)
	return l.lines, nil
}

type listing struct {
	pkg   *types.Package
	lines []string
}

func (l *listing) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *listing) object(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		value := o.Val().ExactString()
		if o.Val().Kind() == constant.String {
			value = o.Val().String()
		}
		l.add("const %s %s = %s", o.Name(), l.typ(o.Type()), value)
	case *types.Var:
		l.add("var %s %s", o.Name(), l.typ(o.Type()))
	case *types.Func:
		l.add("func %s%s%s", o.Name(), l.params(o.Signature().TypeParams()), strings.TrimPrefix(l.typ(o.Type()), "func"))
	case *types.TypeName:
		l.typeName(o)
	}
}

func (l *listing) typeName(o *types.TypeName) {
	if o.IsAlias() {
		l.add("type %s = %s", o.Name(), l.typ(types.Unalias(o.Type())))
		return
	}
	named := o.Type().(*types.Named)
	name := o.Name() + l.params(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		for field := range under.Fields() {
			switch {
			case !field.Exported():
			case field.Embedded():
				l.add("type %s struct, embedded %s", name, l.typ(field.Type()))
			default:
				l.add("type %s struct, %s %s", name, field.Name(), l.typ(field.Type()))
			}
		}
	case *types.Interface:
		l.interfaceType(name, under)
		return
	default:
		l.add("type %s %s", name, l.typ(under))
	}
	l.methods(named)
}

func (l *listing) interfaceType(name string, under *types.Interface) {
	l.add("type %s interface", name)
	for method := range under.Methods() {
		if method.Exported() {
			l.add("type %s interface, %s%s", name, method.Name(), strings.TrimPrefix(l.typ(method.Type()), "func"))
		}
	}
	if slices.ContainsFunc(slices.Collect(under.Methods()), func(m *types.Func) bool { return !m.Exported() }) {
		l.add("type %s interface, unexported methods", name)
	}
}

// methods lists the methods of a type, with those that it has from an unexported
// type inside it. Those of an exported one are listed there.
func (l *listing) methods(named *types.Named) {
	values := types.NewMethodSet(named)
	pointers := types.NewMethodSet(types.NewPointer(named))
	for selection := range pointers.Methods() {
		method := selection.Obj()
		if !method.Exported() || throughExported(named, selection.Index()) {
			continue
		}
		receiver := named.Obj().Name()
		if arguments := named.TypeParams(); arguments.Len() > 0 {
			var names []string
			for p := range arguments.TypeParams() {
				names = append(names, p.Obj().Name())
			}
			receiver += "[" + strings.Join(names, ", ") + "]"
		}
		if values.Lookup(method.Pkg(), method.Name()) == nil {
			receiver = "*" + receiver
		}
		l.add("method (%s) %s%s", receiver, method.Name(), strings.TrimPrefix(l.typ(selection.Type()), "func"))
	}
}

// throughExported reports whether the way to a method leads through an exported
// field.
func throughExported(t types.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		field := t.Underlying().(*types.Struct).Field(i)
		if field.Exported() {
			return true
		}
		t = field.Type()
	}
	return false
}

// params returns type parameters with their constraints.
func (l *listing) params(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+l.typ(p.Constraint()))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// typ returns a type as its package would write it, without the names of
// parameters, which callers do not depend on.
func (l *listing) typ(t types.Type) string {
	return types.TypeString(unnamed(t), func(p *types.Package) string {
		if p == l.pkg {
			return ""
		}
		return p.Name()
	})
}

// unnamed returns a type without the names of parameters and results, and without
// type parameters.
func unnamed(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, tuple(t.Params()), tuple(t.Results()), t.Variadic())
	case *types.Slice:
		return types.NewSlice(unnamed(t.Elem()))
	case *types.Pointer:
		return types.NewPointer(unnamed(t.Elem()))
	case *types.Map:
		return types.NewMap(unnamed(t.Key()), unnamed(t.Elem()))
	}
	return t
}

func tuple(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range t.Variables() {
		vars = append(vars, types.NewParam(v.Pos(), v.Pkg(), "", unnamed(v.Type())))
	}
	return types.NewTuple(vars...)
}
