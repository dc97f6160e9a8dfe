import { expect, test } from "bun:test";
import { keyState } from "./key-table.tsx";

const nowMs = Date.parse("2026-11-21T12:00:00Z");

test("a key without an expiry is active", () => {
  expect(keyState({}, nowMs)).toBe("active");
  expect(keyState({ expires_at: null, revoked_at: null }, nowMs)).toBe("active");
});

test("a key expires soon in its last week", () => {
  expect(keyState({ expires_at: "2026-11-28T12:00:01Z" }, nowMs)).toBe("active");
  expect(keyState({ expires_at: "2026-11-28T12:00:00Z" }, nowMs)).toBe("expires soon");
  expect(keyState({ expires_at: "2026-11-21T12:00:01Z" }, nowMs)).toBe("expires soon");
  expect(keyState({ expires_at: "2026-11-21T12:00:00Z" }, nowMs)).toBe("expired");
});

test("revoked takes precedence over expired", () => {
  const key = { revoked_at: "2026-11-01T00:00:00Z", expires_at: "2026-11-02T00:00:00Z" };
  expect(keyState(key, nowMs)).toBe("revoked");
});
