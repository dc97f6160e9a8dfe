import type { Context, Span, TextMapSetter } from "@opentelemetry/api";
import type { TelemetryConfig } from "../config/config-telemetry.ts";
import { readTraceHeaders } from "./forward-traces.ts";
import { chatRequestAttributes, chatResponseAttributes, modelNameOf } from "./gen-ai-attributes.ts";
import { createOpenSpans } from "./open-spans.ts";
import type { LogExport } from "./otlp-exporter.ts";
import type {
  ChatMetrics,
  ChatParent,
  EvaluatedSpan,
  EvaluationEnd,
  TraceHeaders,
  Tracing,
} from "./tracing.ts";

type Target = NonNullable<TelemetryConfig["traces"]>;

/** Loads OpenTelemetry's SDK, which takes memory, only if traces are exported. */
export async function exportTraces(
  target: Target,
  attributes: TelemetryConfig["attributes"],
  logExport: LogExport,
  chats?: ChatMetrics,
): Promise<Tracing> {
  const [
    { ROOT_CONTEXT, SpanKind, SpanStatusCode, defaultTextMapGetter, trace },
    core,
    sdk,
    { traceExporter },
    resources,
  ] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/core"),
    import("@opentelemetry/sdk-trace-base"),
    import("./otlp-exporter.ts"),
    import("@opentelemetry/resources"),
  ]);
  const openSpans = createOpenSpans();
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ ...attributes }),
    spanProcessors: [openSpans, new sdk.BatchSpanProcessor(traceExporter(target, logExport))],
  });
  const tracer = provider.getTracer("presage");
  const propagator = new core.W3CTraceContextPropagator();

  function headersOf(span: Span, parent: Context): TraceHeaders {
    const headers: Record<string, string> = {};
    propagator.inject(trace.setSpan(parent, span), headers, setUnlessEmpty);
    return headers;
  }

  const startChat =
    (parent: Context): ChatParent["startChat"] =>
    (request) => {
      const measured = chats?.start(request);
      const attributes = chatRequestAttributes(request);
      const span = tracer.startSpan("chat", { kind: SpanKind.CLIENT, attributes }, parent);
      return {
        headers: headersOf(span, parent),
        end(response) {
          measured?.end(response);
          const model = modelNameOf(response.model);
          if (model !== undefined) span.updateName(`chat ${model}`);
          span.setAttributes(chatResponseAttributes(response)).end();
        },
        fail(errorType) {
          measured?.fail(errorType);
          failed(span, errorType);
          span.end();
        },
      };
    };

  function failed(span: Span, errorType: string): void {
    span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR });
  }

  const endAfter = (span: Span) => (work: Promise<unknown>) => {
    work.then(
      () => span.end(),
      (error: unknown) => {
        failed(span, error instanceof Error ? error.name : "_OTHER");
        span.end();
      },
    );
  };

  function endEvaluation(
    span: Span,
    name: string,
    { status, pass, score, errorMessage }: EvaluationEnd,
  ): void {
    const errorType = status === "success" ? undefined : (errorMessage?.split(":", 1)[0] ?? status);
    const result = {
      "gen_ai.evaluation.name": name,
      "gen_ai.evaluation.score.value": score,
      "gen_ai.evaluation.score.label": pass === undefined ? undefined : pass ? "pass" : "fail",
    };
    span.setAttributes(result);
    span.addEvent("gen_ai.evaluation.result", { ...result, "error.type": errorType });
    if (errorType !== undefined) failed(span, errorType);
    span.end();
  }

  function below(parent: Context): EvaluatedSpan {
    return {
      startChat: startChat(parent),
      startEvaluation({ family, profile }) {
        const attributes = { "gen_ai.evaluation.name": family, "presage.profile.name": profile };
        const span = tracer.startSpan(`evaluate ${family}`, { kind: SpanKind.INTERNAL, attributes }, parent);
        const ended = endAfter(span);
        return {
          startChat: startChat(trace.setSpan(parent, span)),
          endAfter(outcome) {
            outcome.then(
              (end) => endEvaluation(span, family, end),
              () => ended(outcome),
            );
          },
        };
      },
    };
  }

  return {
    startRequest(method, headers) {
      const parent = propagator.extract(ROOT_CONTEXT, readTraceHeaders(headers), defaultTextMapGetter);
      const attributes = { "http.request.method": method };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      return {
        ...below(trace.setSpan(parent, span)),
        end(route, status) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({ "http.route": route, "http.response.status_code": status });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    startRun({ id, name, datasetId }) {
      const attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": name,
        "presage.run.id": id,
        "presage.dataset.id": datasetId,
      };
      const run = tracer.startSpan("invoke_workflow", { kind: SpanKind.INTERNAL, attributes }, ROOT_CONTEXT);
      return {
        endAfter: endAfter(run),
        startStep({ sampleId, repeat }) {
          const ofStep = { "presage.run.id": id, "presage.sample.id": sampleId, "presage.repeat": repeat };
          const span = tracer.startSpan(
            "run step",
            { kind: SpanKind.INTERNAL, attributes: ofStep, links: [{ context: run.spanContext() }] },
            ROOT_CONTEXT,
          );
          return { ...below(trace.setSpan(ROOT_CONTEXT, span)), endAfter: endAfter(span) };
        },
      };
    },
    async stop() {
      await openSpans.ended();
      await provider.shutdown();
    },
  };
}

const setUnlessEmpty: TextMapSetter<Record<string, string>> = {
  set(carrier, name, value) {
    if (value !== "") carrier[name] = value;
  },
};
