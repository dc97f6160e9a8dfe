import { expect, test } from "bun:test";
import { ServiceError } from "../platform/errors.ts";
import { onceSearchable } from "./open-connection.ts";

const notReady = () =>
  new ServiceError("overloaded", "The world's examples are not searchable yet.", { retryAfterS: 5 });

test("a command waits for a world's examples, with a pause before it asks again", async () => {
  const started = performance.now();
  let asked = 0;
  const answer = await onceSearchable(async () => {
    asked += 1;
    if (asked < 3) throw notReady();
    return "answer";
  });
  expect([answer, asked]).toEqual(["answer", 3]);
  expect(performance.now() - started).toBeGreaterThan(1_900);
});

test("another refusal is not waited out", async () => {
  const refusal = new ServiceError("overloaded", "The database is busy.", { retryAfterS: 1 });
  let asked = 0;
  const refused = onceSearchable(async () => {
    asked += 1;
    throw refusal;
  });
  await expect(refused).rejects.toBe(refusal);
  expect(asked).toBe(1);
});
