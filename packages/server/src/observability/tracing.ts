import type { Context, Span, TextMapSetter, Tracer } from "@opentelemetry/api";
import { defined } from "../defined.ts";

/** OpenTelemetry spans of requests and their upstream calls, by the GenAI conventions and without prompts. */
export interface Tracing {
  /** A span for one request; a child of the caller's if the headers name one. Undefined if there is nothing to trace. */
  startRequest(method: string, headers: Headers): RequestSpan | undefined;
  /** Sends what is pending. */
  stop(): Promise<void>;
}

export interface RequestSpan {
  startChat(request: Readonly<Record<string, unknown>>): ChatSpan;
  end(route: string, status: number): void;
}

/** `traceparent` and `tracestate`, as the W3C defines them. */
export type TraceHeaders = Readonly<Record<string, string>>;

export interface ChatSpan {
  /** Make the upstream's own spans children of this one. */
  headers: TraceHeaders;
  end(response: {
    model: unknown;
    finishReason: unknown;
    promptTokens: number;
    completionTokens: number;
  }): void;
  fail(errorType: string): void;
}

/** Loads OpenTelemetry's SDK, which takes memory, only if traces are exported. */
export async function openTracing(endpoint: string): Promise<Tracing> {
  const [
    { ROOT_CONTEXT, SpanKind, SpanStatusCode, defaultTextMapGetter, trace },
    core,
    sdk,
    exporter,
    resources,
  ] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/core"),
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ "service.name": "presage" }),
    spanProcessors: [
      new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url: `${endpoint}/v1/traces` })),
    ],
  });
  const tracer: Tracer = provider.getTracer("presage");
  const propagator = new core.W3CTraceContextPropagator();

  function headersOf(span: Span, parent: Context): TraceHeaders {
    const headers: Record<string, string> = {};
    propagator.inject(trace.setSpan(parent, span), headers, setUnlessEmpty);
    return headers;
  }

  function startChat(parent: Context, request: Readonly<Record<string, unknown>>): ChatSpan {
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": textOf(request.model),
      "gen_ai.request.max_tokens": numberOf(request.max_tokens),
      "gen_ai.request.temperature": numberOf(request.temperature),
      "gen_ai.request.top_p": numberOf(request.top_p),
    };
    const span: Span = tracer.startSpan("chat", { kind: SpanKind.CLIENT, attributes }, parent);
    return {
      headers: headersOf(span, parent),
      end({ model, finishReason, promptTokens, completionTokens }) {
        if (typeof model === "string")
          span.updateName(`chat ${model}`).setAttribute("gen_ai.response.model", model);
        if (typeof finishReason === "string")
          span.setAttribute("gen_ai.response.finish_reasons", [finishReason]);
        span.setAttribute("gen_ai.usage.input_tokens", promptTokens);
        span.setAttribute("gen_ai.usage.output_tokens", completionTokens);
        span.end();
      },
      fail(errorType) {
        span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  return {
    startRequest(method, headers) {
      const parent = propagator.extract(ROOT_CONTEXT, readTraceHeaders(headers), defaultTextMapGetter);
      const attributes = { "http.request.method": method };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      const context = trace.setSpan(parent, span);
      return {
        startChat: (request) => startChat(context, request),
        end(route, status) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({ "http.route": route, "http.response.status_code": status });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    stop: () => provider.shutdown(),
  };
}

/** Without an exporter: valid trace headers of the caller go to the upstream as they are. */
export function forwardTraces(): Tracing {
  return {
    startRequest(_, headers) {
      const given = readTraceHeaders(headers);
      if (given.traceparent === undefined) return undefined;
      return {
        startChat: () => ({ headers: validTraceHeaders(given), end() {}, fail() {} }),
        end() {},
      };
    },
    async stop() {},
  };
}

interface GivenTraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

function readTraceHeaders(headers: Headers): GivenTraceHeaders {
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

const setUnlessEmpty: TextMapSetter<Record<string, string>> = {
  set(carrier, name, value) {
    if (value !== "") carrier[name] = value;
  },
};

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
