import { expect, test } from "bun:test";
import { createNoopMeter } from "@opentelemetry/api";
import { chatRequestAttributes, chatResponseAttributes, createChatMetrics } from "./recorder.ts";

const end = { model: "m", finishReason: "stop", message: {}, promptTokens: 1, completionTokens: 1 };

/** Collects the models that metrics tell apart. */
function watch() {
  const requested = new Set<unknown>();
  const answered = new Set<unknown>();
  const meter = createNoopMeter();
  const histogram = meter.createHistogram("");
  histogram.record = (_, attributes = {}) => {
    requested.add(attributes["gen_ai.request.model"]);
    answered.add(attributes["gen_ai.response.model"]);
  };
  meter.createHistogram = () => histogram;
  return { chats: createChatMetrics(meter), requested, answered };
}

test("Metrics tell a hundred models apart, and the rest is another", () => {
  const { chats, requested, answered } = watch();
  for (let call = 0; call < 1_000; call++) {
    const model = `model-${call}`;
    chats.start({ model }).end({ ...end, model, sentModel: model });
  }
  for (const models of [requested, answered]) {
    expect(models.size).toBe(101);
    expect(models).toContain("other");
    expect(models).toContain("model-0");
  }
});

test("A name that no deployment answered, or that is no name, is no model of a metric", () => {
  const { chats, requested } = watch();
  for (const model of ["invented", "x".repeat(201), "a\nb"]) chats.start({ model }).fail("bad_request");
  chats.start({ model: "x".repeat(201) }).end({ ...end, sentModel: "x".repeat(201) });
  expect([...requested]).toEqual(["other"]);
  chats.start({}).fail("timeout");
  chats.start({ model: "real" }).end({ ...end, sentModel: "real" });
  chats.start({ model: "real" }).fail("timeout");
  expect([...requested]).toEqual(["other", undefined, "real"]);
});

test("A span has no model's name that is too long", () => {
  const model = "x".repeat(1_000_000);
  expect(chatRequestAttributes({ model })["gen_ai.request.model"]).toBeUndefined();
  const attributes = chatResponseAttributes({ ...end, model, sentModel: model });
  expect([attributes["gen_ai.request.model"], attributes["gen_ai.response.model"]]).toEqual([
    undefined,
    undefined,
  ]);
});
