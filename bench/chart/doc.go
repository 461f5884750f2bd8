// Package chart draws the charts of the documentation as SVG: lines over a growing number,
// and rows of ratios. A file refers to no other file, script or font, and follows the color
// scheme of the reader.
package chart
