// Package chart draws the charts of the documentation as SVG: lines over a
// growing number, and ratios on a line of their own. The files stand alone,
// without scripts or fonts of others, and follow the reader's choice of light
// or dark.
package chart
