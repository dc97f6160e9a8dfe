import { expect, test } from "bun:test";
import { createRetryShare } from "./retry-share.ts";

test("at most a fifth of the requests in flight are retries, and 3 of few", () => {
  const share = createRetryShare(() => 0);
  for (let answered = 0; answered < 500; answered += 1) share.earn();
  const taken = (inFlight: number) => {
    let count = 0;
    while (share.take(inFlight, false)) count += 1;
    for (let one = 0; one < count; one += 1) share.release();
    return count;
  };
  expect([taken(4), taken(50)]).toEqual([3, 10]);
});

test("in an outage nothing is earned, so that of 1,000 failing calls a second 60 are retried in half a minute", () => {
  let nowMs = 0;
  const share = createRetryShare(() => nowMs);
  let retries = 0;
  for (; nowMs < 30_000; nowMs += 1) {
    if (share.take(1, false)) {
      retries += 1;
      share.release();
    }
  }
  expect(retries).toBeWithin(55, 62);
});

test("five answered calls earn one retry", () => {
  const share = createRetryShare(() => 0);
  const retry = () => share.take(1_000, false);
  while (retry());
  for (let answered = 0; answered < 5; answered += 1) share.earn();
  expect([retry(), retry()]).toEqual([true, false]);
});
