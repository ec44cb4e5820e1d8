// Stranger is a program that has a raft.proto of its own, as servers have, and uses Recount. A second file of that name
// would end it before main begins.
package main

import (
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"recount/internal/hint"
	_ "recount/recounttest"
	"recount/targets"
)

func init() {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("raft.proto"), Package: proto.String("raftpb"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Entry")}},
	}, nil)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	_, err := targets.Find("raft")
	fmt.Printf("%v\n%s\n", err, hint.Of(err))
}
