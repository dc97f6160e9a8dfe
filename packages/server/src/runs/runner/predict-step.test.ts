import { expect, test } from "bun:test";
import { conflict, ServiceError } from "../../platform/errors.ts";
import type { Run } from "../run.ts";
import { createPace } from "./pace.ts";
import { createPredictor } from "./predict-step.ts";

const never = new AbortController().signal;
const run = { target: { kind: "retrieval" }, provenance: {} } as unknown as Run;
const step = {
  position: 1,
  repeat: 0,
  sample: { interaction: { state: "Shelf.", action: "take" } },
} as never;

function ofRecords(answerFromRecords: () => Promise<string>, isStopping: () => boolean) {
  const predict = () => Promise.reject(new Error("no deployment is asked"));
  const pace = createPace(1, { onAway() {}, onBack() {} });
  const tries = { retried: {}, timed_out: 0 };
  const services = { pace, tries, patience: 1, isStopping, predict, answerFromRecords };
  return createPredictor(run, { ...services, mostFrequent: undefined, worldRun: undefined });
}

test("a run of records alone waits for their index", async () => {
  let asked = 0;
  const predictor = ofRecords(
    async () => {
      asked += 1;
      if (asked < 3) throw new ServiceError("overloaded", "not searchable yet");
      return "Taken.";
    },
    () => false,
  );
  expect(await predictor(step, [], never)).toMatchObject({ response: { output: "Taken." } });
  expect(asked).toBe(3);
});

test("it waits no longer once it is paused, and other errors end it", async () => {
  let isPaused = false;
  const late = ofRecords(
    async () => {
      isPaused = true;
      throw new ServiceError("overloaded", "not searchable yet");
    },
    () => isPaused,
  );
  expect(await late(step, [], never)).toBeUndefined();
  const gone = ofRecords(
    () => Promise.reject(conflict("gone")),
    () => false,
  );
  expect(gone(step, [], never)).rejects.toThrow("gone");
});
