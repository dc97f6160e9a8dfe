import { expect, test } from "bun:test";
import { describeLimits, limitsForm, readLimits, readNewKey } from "./read-key-form.ts";

const noLimits = { rate_limit_rpm: "", max_in_flight: "", capture: "", scopes: [] };
const nowMs = new Date("2026-11-21T12:00:00").getTime();

test("a key that never expires is requested without a date", () => {
  expect(readNewKey({ name: " agent ", expiry: "never", date: "", ...noLimits }, nowMs)).toEqual({
    request: { name: "agent", rate_limit_rpm: null, max_in_flight: null, capture: null, scopes: null },
  });
});

test("days count from now", () => {
  const { request } = readNewKey({ name: "agent", expiry: "30", date: "", ...noLimits }, nowMs);
  expect(request?.expires_at).toBe(new Date(nowMs + 30 * 86_400_000).toISOString());
});

test("a day counts to its end in the user's time zone", () => {
  const { request } = readNewKey({ name: "agent", expiry: "date", date: "2026-11-21", ...noLimits }, nowMs);
  expect(request?.expires_at).toBe(new Date("2026-11-21T23:59:59").toISOString());
});

test("all issues are reported at once", () => {
  expect(readNewKey({ name: " ", expiry: "date", date: "", ...noLimits }, nowMs).issues).toEqual({
    name: "Give the key a name.",
    expires_at: "Choose a day.",
  });
  expect(
    readNewKey({ name: "a".repeat(121), expiry: "date", date: "2026-11-20", ...noLimits }, nowMs).issues,
  ).toEqual({
    name: "The name has 121 characters; the maximum is 120.",
    expires_at: "Choose today or a later day.",
  });
});

test("limits are part of the request, and of its issues", () => {
  const form = { name: "agent", expiry: "never", date: "", scopes: [] } as const;
  expect(
    readNewKey({ ...form, rate_limit_rpm: "600", max_in_flight: "", capture: "0.01" }, nowMs).request,
  ).toMatchObject({
    rate_limit_rpm: 600,
    max_in_flight: null,
    capture: "0.01",
  });
  expect(readNewKey({ ...form, rate_limit_rpm: "0", max_in_flight: "", capture: "" }, nowMs).issues).toEqual({
    rate_limit_rpm: "A whole number from 1 to 1,000,000,000, or nothing.",
  });
});

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
