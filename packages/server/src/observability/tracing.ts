import type { Context, Span, Tracer } from "@opentelemetry/api";

/** OpenTelemetry spans of requests and their upstream calls, by the GenAI conventions and without prompts. */
export interface Tracing {
  /** A span for one request; a child of the caller's if `traceparent` names one. */
  startRequest(method: string, traceparent: string | null): RequestSpan;
  /** Sends what is pending. */
  stop(): Promise<void>;
}

export interface RequestSpan {
  startChat(request: Readonly<Record<string, unknown>>): ChatSpan;
  end(route: string, status: number): void;
}

export interface ChatSpan {
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
    startRequest(method, traceparent) {
      const carrier = traceparent === null ? {} : { traceparent };
      const parent = propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
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

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
