import { defined } from "../defined.ts";
import type { ChatMetrics, ChatParent, EvaluatedSpan, TraceHeaders, Tracing } from "./tracing.ts";

/** Without an exporter of traces: valid trace headers of the caller go to the upstream as they are. */
export function forwardTraces(chats?: ChatMetrics): Tracing {
  return {
    startRequest(_, headers) {
      const given = readTraceHeaders(headers);
      if (given.traceparent === undefined && chats === undefined) return undefined;
      return { ...measuredSpan(given, chats), end() {} };
    },
    startRun() {
      if (chats === undefined) return undefined;
      return { startStep: () => ({ ...measuredSpan({}, chats), endAfter() {} }), endAfter() {} };
    },
    async stop() {},
  };
}

/** Is not exported; calls to models below it are counted. */
function measuredSpan(given: GivenTraceHeaders, chats: ChatMetrics | undefined): EvaluatedSpan {
  const startChat: ChatParent["startChat"] = (request) => ({
    ...(chats?.start(request) ?? notMeasured),
    headers: given.traceparent === undefined ? {} : validTraceHeaders(given),
  });
  return { startChat, startEvaluation: () => ({ startChat, endAfter() {} }) };
}

const notMeasured = { end() {}, fail() {} };

interface GivenTraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

export function readTraceHeaders(headers: Headers): GivenTraceHeaders {
  const traceparent = headers.get("traceparent") ?? undefined;
  return traceparent === undefined
    ? {}
    : defined({ traceparent, tracestate: headers.get("tracestate") ?? undefined });
}

/** The library takes megabytes, and most clients send no trace headers: the first who does loads it. */
function validTraceHeaders({ traceparent = "", tracestate }: GivenTraceHeaders): TraceHeaders {
  const { parseTraceParent, TraceState }: typeof import("@opentelemetry/core") =
    require("@opentelemetry/core");
  if (parseTraceParent(traceparent) === null) return {};
  // Its invalid members are left out.
  const state = new TraceState(tracestate).serialize();
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}
