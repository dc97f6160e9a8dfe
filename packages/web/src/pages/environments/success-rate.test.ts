import { expect, test } from "bun:test";
import type { EpisodeFigures } from "@presage/sdk";
import { countSuccess, describeSuccess } from "./success-rate.tsx";

test("a success rate says what it is of, and how many episodes are in none", () => {
  const figures = { successes: 9, finished: 12, expired: 5, tasks: 8 } as EpisodeFigures;
  expect(describeSuccess(figures)).toBe(
    "9 of 12 episodes that ended, with 8 tasks; 5 were left by their client",
  );
  expect(countSuccess(figures)).toBe("9 of 12, 5 expired");
  const all = { ...figures, successes: 1, finished: 1, expired: 0, tasks: 1 };
  expect(describeSuccess(all)).toBe("1 of 1 episode that ended, with 1 task");
  expect(countSuccess(all)).toBe("1 of 1");
});
