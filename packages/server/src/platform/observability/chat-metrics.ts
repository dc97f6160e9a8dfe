import type { Meter } from "@opentelemetry/api";
import { chatMetricAttributes, modelNameOf } from "./gen-ai-attributes.ts";
import type { ChatMetrics } from "./tracing.ts";

/** The boundaries that the conventions name. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The SDK keeps every name for as long as the process lives. */
const maxModels = 100;
const otherModel = "other";

/** Duration and tokens of calls to models, by the GenAI conventions. What was cached is no call. */
export function createChatMetrics(meter: Meter): ChatMetrics {
  const duration = meter.createHistogram("gen_ai.client.operation.duration", {
    unit: "s",
    description: "GenAI operation duration.",
    advice: { explicitBucketBoundaries: seconds },
  });
  const usage = meter.createHistogram("gen_ai.client.token.usage", {
    unit: "{token}",
    description: "Number of input and output tokens used.",
    advice: { explicitBucketBoundaries: tokens },
  });
  const known = new Set<string>();

  /** Of a completed call: the deployment serves it. */
  function nameOf(model: unknown): string | undefined {
    if (model === undefined || model === null) return undefined;
    const name = modelNameOf(model);
    if (name === undefined || (!known.has(name) && known.size >= maxModels)) return otherModel;
    known.add(name);
    return name;
  }

  return {
    start(request) {
      const startedAtMs = performance.now();
      const elapsedS = () => (performance.now() - startedAtMs) / 1_000;
      // Kept until the end, unlike the request.
      const asked = modelNameOf(request.model);
      const isAsked = request.model !== undefined;
      return {
        end(response) {
          if (response.source === "hit" || response.source === "shared") return;
          const attributes = chatMetricAttributes(
            { requested: nameOf(response.sentModel ?? asked), answered: nameOf(response.model) },
            response,
          );
          duration.record(elapsedS(), attributes);
          const { promptTokens, completionTokens } = response;
          usage.record(promptTokens, { ...attributes, "gen_ai.token.type": "input" });
          usage.record(completionTokens, { ...attributes, "gen_ai.token.type": "output" });
        },
        fail(errorType) {
          const served = asked !== undefined && known.has(asked) ? asked : otherModel;
          const attributes = chatMetricAttributes({ requested: isAsked ? served : undefined });
          duration.record(elapsedS(), { ...attributes, "error.type": errorType });
        },
      };
    },
  };
}
