import { expect, test } from "bun:test";
import { describeLimits, limitsForm, readLimits } from "./read-limits.ts";

test("an empty field is the server's limit", () => {
  const { limits, issues } = readLimits({ rate_limit_rpm: " ", max_in_flight: " 64 " });
  expect(limits).toEqual({ rate_limit_rpm: null, max_in_flight: 64 });
  expect(issues).toEqual({});
});

test.each(["0", "-1", "1.5", "many", "1000000001"])("%s is an issue", (text) => {
  const { issues } = readLimits({ rate_limit_rpm: text, max_in_flight: "" });
  expect(issues).toEqual({ rate_limit_rpm: "A whole number from 1 to 1,000,000,000, or nothing." });
});

test("the form shows a key's limits", () => {
  expect(limitsForm({ rate_limit_rpm: 600, max_in_flight: null })).toEqual({
    rate_limit_rpm: "600",
    max_in_flight: "",
  });
});

test("limits are described in words", () => {
  expect(describeLimits({ rate_limit_rpm: 6_000, max_in_flight: 64 })).toBe("6,000 a minute, 64 at once");
  expect(describeLimits({ rate_limit_rpm: null, max_in_flight: 1 })).toBe("1 at once");
  expect(describeLimits({})).toBeUndefined();
});
