"""Compares FileDescriptorProtos (hex, one a line of stdin) with those that Triton's own client was built from; prints what differs."""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool
from tritonclient.grpc import model_config_pb2, service_pb2


def describe(files):
    """Full name -> what counts on the wire and to a stub."""
    known = {}

    def add_enum(scope, enum):
        known[f"{scope}.{enum.name}"] = sorted((value.name, value.number) for value in enum.value)

    def add(scope, message):
        name = f"{scope}.{message.name}"
        known[name] = sorted(
            (
                field.name,
                field.number,
                field.type,
                field.label,
                field.type_name,
                message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else "",
            )
            for field in message.field
        )
        for enum in message.enum_type:
            add_enum(name, enum)
        for inner in message.nested_type:
            add(name, inner)

    for file in files:
        for enum in file.enum_type:
            add_enum(file.package, enum)
        for message in file.message_type:
            add(file.package, message)
        for service in file.service:
            known[f"{file.package}.{service.name}"] = [
                (rpc.name, rpc.input_type, rpc.output_type, rpc.client_streaming, rpc.server_streaming)
                for rpc in service.method
            ]
    return known


ours = [descriptor_pb2.FileDescriptorProto.FromString(bytes.fromhex(line)) for line in sys.stdin]
pool = descriptor_pool.DescriptorPool()
for file in ours:
    pool.Add(file)  # refuses what does not fit together
theirs = [descriptor_pb2.FileDescriptorProto.FromString(m.DESCRIPTOR.serialized_pb) for m in (model_config_pb2, service_pb2)]
mine = describe(file for file in ours if file.package == "inference")
wanted = describe(theirs)
for name in sorted(mine.keys() | wanted.keys()):
    if mine.get(name) != wanted.get(name):
        print(name, mine.get(name), wanted.get(name))
print(len(wanted), "compared")
