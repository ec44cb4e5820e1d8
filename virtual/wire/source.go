package wire

import "embed"

// Source is what a node's standard library has of this package.
//
//go:embed layout.go codec.go
var Source embed.FS
