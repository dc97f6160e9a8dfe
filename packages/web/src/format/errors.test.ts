import { expect, test } from "bun:test";
import { PresageError } from "@presage/sdk";
import { explainError, PageError } from "./errors.ts";

test("when to retry is said once: as the server says, or else in a moment", () => {
  const adviceAfter = (retryAfterMs?: number) =>
    explainError(new PresageError("Slow down.", { category: "rate_limit", retryAfterMs })).advice;
  expect(adviceAfter(1_200)).toBe("Slow down. Try again in 2 s.");
  expect(adviceAfter()).toBe("Slow down. Try again in a moment.");
});

test("a message that only repeats the title is left out", () => {
  const { title, advice } = explainError(
    new PresageError("Presage cannot be reached at http://127.0.0.1:8080.", { category: "connection" }),
  );
  expect(title).toBe("Presage cannot be reached");
  expect(advice).not.toContain(title);
});

test("what is too much for the server is not blamed on the model's context", () => {
  const message = "The request body is larger than 1048576 bytes.";
  expect(explainError(new PresageError(message, { category: "too_large", status: 413 }))).toEqual({
    title: "Too much at once",
    advice: message,
  });
});

test("issues shown at their fields are not repeated", () => {
  const issue = { type: "missing", loc: ["body", "name"], msg: "Field required", input: {} };
  const refused = (issues: (typeof issue)[]) =>
    explainError(new PresageError("The body was rejected.", { category: "invalid", issues })).advice;
  expect(refused([issue])).toBe("Correct the issues below and try again.");
  expect(refused([])).toStartWith("The body was rejected. ");
});

test("results, profiles and taxonomies are never removed, so what is not found was never there", () => {
  const { advice } = explainError(new PresageError("There is no such result.", { category: "not_found" }));
  expect(advice).toBe("There is no such result. The ID may be wrong, or it may belong to another account.");
});

test("what the page itself says of an error is shown, what the browser or React says is not", () => {
  const own = "No step of t1 has a state. Draw again.";
  expect(explainError(new PageError(own)).advice).toBe(own);
  for (const error of [new TypeError("undefined is not a function"), new Error("Minified React error #310")])
    expect(explainError(error).advice).toStartWith("Reload the page. ");
});
