import { expect, test } from "bun:test";
import { captureOf } from "./capture.ts";

test("words decide for every request", () => {
  for (const setting of ["off", "failures", "all"] as const)
    expect(captureOf(setting, "request-1")).toBe(setting);
});

test("a share keeps about that many requests, and the same ones every time", () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `request-${at}`);
  const keptAt = (share: string) => ids.filter((id) => captureOf(share, id) === "all");
  const some = keptAt("0.1");
  expect(some.length).toBeWithin(850, 1_150);
  expect(keptAt("0.1")).toEqual(some);
  // Those of a smaller share are among those of a larger one.
  expect(new Set(keptAt("0.2")).isSupersetOf(new Set(some))).toBe(true);
  expect(keptAt("0")).toEqual([]);
  expect(keptAt("1")).toEqual(ids);
});

test("anybody can tell which requests are kept, by the SHA-256 of their ids", () => {
  // printf request-1 | sha256sum: the first 8 digits as a fraction of 2^32.
  const digits = new Bun.CryptoHasher("sha256").update("request-1").digest("hex").slice(0, 8);
  const fraction = Number.parseInt(digits, 16) / 2 ** 32;
  expect(captureOf(String(fraction - 0.001), "request-1")).toBe("off");
  expect(captureOf(String(fraction + 0.001), "request-1")).toBe("all");
});
