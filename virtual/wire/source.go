package wire

import "embed"

// Source is what a node's standard library has of this package.
//
//go:embed layout.go codec.go datagram.go
var Source embed.FS
