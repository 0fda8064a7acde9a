"""The few protobuf messages of a `.wandb` log that are read, as a descriptor of our own; other fields are skipped.

Field numbers are those that wandb 0.15 to 0.31 write. Texts are declared as bytes: a log whose text is no valid UTF-8
must still be read, and protobuf refuses such a string.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

Message = Any  # classes made at run time have no static type
DecodeError = message.DecodeError

# Message: {field name: (number, type)}; a type in capitals is a message, "*" marks a repeated field and "|" one of
# the alternatives of the message's only oneof.
LAYOUT: dict[str, dict[str, tuple[int, str]]] = {
    "Record": {
        "history": (2, "History|"),
        "summary": (3, "Update|"),
        "output": (4, "Output|"),
        "config": (5, "Update|"),
        "files": (6, "Empty|"),
        "stats": (7, "Stats|"),
        "artifact": (8, "Empty|"),
        "tbrecord": (9, "Empty|"),
        "alert": (10, "Empty|"),
        "telemetry": (11, "Empty|"),
        "metric": (12, "Empty|"),
        "output_raw": (13, "Output|"),
        "run": (17, "Run|"),
        "exit": (18, "Exit|"),
        "final": (20, "Empty|"),
        "header": (21, "Header|"),
        "footer": (22, "Empty|"),
        "preempting": (23, "Empty|"),
        "link_artifact": (24, "Empty|"),
        "use_artifact": (25, "Empty|"),
        "environment": (26, "Environment|"),
        "output_logger": (27, "LoggerOutput|"),
        "request": (100, "Empty|"),
    },
    "Empty": {},
    "Instant": {"seconds": (1, "int64"), "nanos": (2, "int32")},
    "Item": {
        "key": (1, "bytes"),
        "nested_key": (2, "bytes*"),
        "none": (3, "int32|"),
        "boolean": (4, "bool|"),
        "integer": (5, "sint64|"),
        "number": (6, "double|"),
        "text": (7, "bytes|"),
        "json": (8, "bytes|"),
        "value_json": (16, "bytes"),
    },
    "Step": {"num": (1, "int64")},
    "History": {"item": (1, "Item*"), "step": (2, "Step")},
    "Update": {"update": (1, "Item*"), "remove": (2, "Item*")},
    "Output": {"output_type": (1, "int32"), "timestamp": (2, "Instant"), "line": (3, "bytes")},
    "LoggerOutput": {"line": (1, "bytes")},
    "Stats": {"timestamp": (2, "Instant")},
    "Run": {
        "run_id": (1, "bytes"),
        "entity": (2, "bytes"),
        "project": (3, "bytes"),
        "config": (4, "Update"),
        "summary": (5, "Update"),
        "run_group": (6, "bytes"),
        "job_type": (7, "bytes"),
        "display_name": (8, "bytes"),
        "notes": (9, "bytes"),
        "tags": (10, "bytes*"),
        "sweep": (12, "bytes"),
        "host": (13, "bytes"),
        "starting_step": (14, "int64"),
        "start_time": (17, "Instant"),
        "resumed": (18, "bool"),
        "runtime": (20, "int32"),
        "git": (21, "Git"),
        "branch_point": (23, "BranchPoint"),
    },
    "Git": {"commit": (2, "bytes")},
    "BranchPoint": {"run": (1, "bytes")},
    "Exit": {"exit_code": (1, "int32"), "runtime": (2, "int32"), "not_complete": (3, "bool")},
    "Header": {"version_info": (1, "Version")},
    "Version": {"producer": (1, "bytes")},
    "Environment": {
        "started_at": (3, "Instant"),
        "args": (5, "bytes*"),
        "program": (6, "bytes"),
        "git": (9, "Git"),
        "root": (11, "bytes"),
        "host": (12, "bytes"),
        "username": (13, "bytes"),
        "executable": (14, "bytes"),
        "gpu_type": (18, "bytes"),
        "gpu_count": (19, "uint32"),
        "slurm": (27, "Pair*"),
        "writer_id": (199, "bytes"),
    },
    "Pair": {"key": (1, "bytes"), "value": (2, "bytes")},
}
PACKAGE = "gangline_wandb"
Field = descriptor_pb2.FieldDescriptorProto


def record_class() -> Any:
    """Makes the class that parses one record of a log.

    Examples
    --------
    >>> record = record_class().FromString(bytes([0x92, 0x01, 0x02, 0x08, 0x01]))
    >>> record.WhichOneof("alternatives"), record.exit.exit_code
    ('exit', 1)
    """
    file = descriptor_pb2.FileDescriptorProto(name="gangline/wandb.proto", package=PACKAGE, syntax="proto3")
    for name, fields in LAYOUT.items():
        _add_message(file, name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.Record"))


def _add_message(file: Any, name: str, fields: dict[str, tuple[int, str]]) -> None:
    added = file.message_type.add(name=name)
    if any(kind.endswith("|") for _, kind in fields.values()):
        added.oneof_decl.add(name="alternatives")
    for field_name, (number, kind) in fields.items():
        field = added.field.add(name=field_name, number=number)
        field.label = Field.LABEL_REPEATED if kind.endswith("*") else Field.LABEL_OPTIONAL
        if kind.endswith("|"):
            field.oneof_index = 0
        _set_type(field, kind.rstrip("*|"))


def _set_type(field: Any, kind: str) -> None:
    if kind in LAYOUT:
        field.type, field.type_name = Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
    else:
        field.type = Field.Type.Value(f"TYPE_{kind.upper()}")
