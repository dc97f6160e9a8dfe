"""Whether OTLP's own messages read an export as it should be: check-otel.py EXPORT EXPECTATIONS [--any-order]"""

import base64
import json
import sys
from pathlib import Path

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def parsed(line):
    """OTLP's JSON has ids in hexadecimal, where JSON of other messages has Base64."""

    def with_ids(one):
        ids = {"traceId", "spanId", "parentSpanId"} & one.keys()
        return one | {name: base64.b64encode(bytes.fromhex(one[name])).decode() for name in ids}

    request = ParseDict(json.loads(line, object_hook=with_ids), ExportTraceServiceRequest())
    return request.resource_spans[0].scope_spans[0].spans


def said(messages):
    return "".join(part["content"] for one in json.loads(messages) for part in one["parts"])


found = []
for line in Path(sys.argv[1]).read_text().splitlines():
    root, *steps = parsed(line)
    for span in steps or [root]:
        if len(span.trace_id) != 16 or len(span.span_id) != 8:
            sys.exit(f"the ids of {span.name} are wrong")
        if steps and span.parent_span_id != root.span_id:
            sys.exit(f"{span.name} is no part of {root.name}")
        if not root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano:
            sys.exit(f"the times of {span.name} are wrong")
        have = {one.key: one.value.string_value for one in span.attributes}
        if have["gen_ai.operation.name"] == "chat":
            asked, answered = have["gen_ai.input.messages"], have["gen_ai.output.messages"]
            found.append([said(asked), said(answered)])
            continue
        arguments = json.loads(have["gen_ai.tool.call.arguments"])
        found.append([have["gen_ai.tool.name"], arguments, have["gen_ai.tool.call.result"]])
expected = json.loads(Path(sys.argv[2]).read_text())
if sys.argv[3:] == ["--any-order"]:
    found.sort()
    expected.sort()
if found != expected:
    sys.exit(f"it has {found}")
