import { expect, test } from "bun:test";
import type { StoredPredictionDetail } from "@presage/sdk";
import { toSample } from "./add-to-dataset-dialog.tsx";

const step = {
  id: "7",
  context: null,
  interaction: { state: "The fridge is closed.", action: "open fridge" },
  messages: null,
  output: "The fridge is open.",
} as StoredPredictionDetail;

test("A step becomes a transition of a trajectory of its own", () => {
  expect(toSample(step)).toEqual({
    trajectory_id: "prediction-7",
    step: 0,
    interaction: { state: "The fridge is closed.", action: "open fridge" },
    next_state: "The fridge is open.",
    tags: { source: "captured" },
  });
});

test("A chat of texts becomes one with messages, and one with more than that none", () => {
  const messages = [
    { role: "system", content: "You are a kitchen." },
    { role: "user", content: "open fridge" },
  ];
  expect(toSample({ ...step, interaction: null, messages })).toMatchObject({ messages });
  const withImage = [{ role: "user", content: [{ type: "image_url" }] }];
  expect(toSample({ ...step, interaction: null, messages: withImage })).toBeUndefined();
  expect(toSample({ ...step, interaction: null, messages: null })).toBeUndefined();
});
