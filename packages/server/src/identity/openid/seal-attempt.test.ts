import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createAttemptSeal } from "./seal-attempt.ts";
import { attemptLifetimeS } from "./sign-in-attempt.ts";

const attempt = { state: "s-1", nonce: "n-1", codeVerifier: "v-1", returnTo: "/usage?day=1" };
const seal = createAttemptSeal("a secret of the tests");

afterEach(() => {
  setSystemTime();
});

test("A sealed attempt comes back as it was, and nobody reads it on the way", async () => {
  const sealed = await seal.close(attempt);
  expect(await seal.open(sealed)).toEqual(attempt);
  const readable = sealed.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
  for (const text of Object.values(attempt)) expect(readable.join()).not.toContain(text);
});

test("It is good until its time is over, and no longer", async () => {
  const sealed = await seal.close(attempt);
  setSystemTime(Date.now() + (attemptLifetimeS - 2) * 1000);
  expect(await seal.open(sealed)).toEqual(attempt);
  setSystemTime(Date.now() + 4_000);
  expect(await seal.open(sealed)).toBeUndefined();
});

test("What was changed, or sealed under another secret, is not opened", async () => {
  const sealed = await seal.close(attempt);
  expect(await createAttemptSeal("another secret").open(sealed)).toBeUndefined();
  const parts = sealed.split(".");
  for (const index of parts.keys()) {
    const changed = parts.with(index, `${(parts[index] ?? "").slice(1)}A`).join(".");
    expect(await seal.open(changed)).toBeUndefined();
  }
  for (const text of ["", "x", "....", "a.b.c.d.e"]) expect(await seal.open(text)).toBeUndefined();
});
