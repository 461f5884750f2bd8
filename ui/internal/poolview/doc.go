// Package poolview is what pages show of the pools of an Observer: looks at them with what has happened lately, the
// rows of tables, charts, and what needs attention. Its templates are for packages debug and ui.
package poolview
