import { expect, test } from "bun:test";
import { PresageError } from "@presage/sdk";
import { explainError } from "./explain-error.ts";

test("when to retry is said once: as the server says, or else in a moment", () => {
  const adviceAfter = (retryAfterMs?: number) =>
    explainError(new PresageError("Slow down.", { category: "rate_limit", retryAfterMs })).advice;
  expect(adviceAfter(1_200)).toBe("Slow down. Try again in 2 s.");
  expect(adviceAfter()).toBe("Slow down. Try again in a moment.");
});

test("a message that only repeats the title is left out", () => {
  const { title, advice } = explainError(
    new PresageError("Presage cannot be reached.", { category: "connection" }),
  );
  expect(title).toBe("Presage cannot be reached");
  expect(advice).not.toContain(title);
});

test("issues shown at their fields are not repeated", () => {
  const issue = { type: "missing", loc: ["body", "name"], msg: "Field required", input: {} };
  const refused = (issues: (typeof issue)[]) =>
    explainError(new PresageError("The body was rejected.", { category: "invalid", issues })).advice;
  expect(refused([issue])).toBe("Correct the issues below and try again.");
  expect(refused([])).toStartWith("The body was rejected. ");
});
