import type { Meter } from "@opentelemetry/api";
import { chatMetricAttributes, textOf } from "./gen-ai-attributes.ts";
import type { ChatMetrics } from "./tracing.ts";

/** The boundaries that the conventions name. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power);

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
  return {
    start(request) {
      const startedAtMs = performance.now();
      const elapsedS = () => (performance.now() - startedAtMs) / 1_000;
      const model = textOf(request.model);
      return {
        end(response) {
          if (response.source === "hit" || response.source === "shared") return;
          const attributes = chatMetricAttributes(model, response);
          duration.record(elapsedS(), attributes);
          const { promptTokens, completionTokens } = response;
          usage.record(promptTokens, { ...attributes, "gen_ai.token.type": "input" });
          usage.record(completionTokens, { ...attributes, "gen_ai.token.type": "output" });
        },
        fail(errorType) {
          duration.record(elapsedS(), { ...chatMetricAttributes(model), "error.type": errorType });
        },
      };
    },
  };
}
