import { afterEach, expect, setSystemTime, test } from "bun:test";
import { attemptLifetimeS, createAttemptSeal } from "./openid.ts";

const attempt = { state: "s-1", nonce: "n-1", codeVerifier: "v-1", returnTo: "/usage?day=1" };
const seal = createAttemptSeal("a secret of the tests");

afterEach(() => {
  setSystemTime();
});

test("A sealed attempt is unreadable and opens unchanged", async () => {
  const sealed = await seal.close(attempt);
  expect(await seal.open(sealed)).toEqual(attempt);
  const readable = sealed.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
  for (const text of Object.values(attempt)) expect(readable.join()).not.toContain(text);
});

test("It is valid until it expires", async () => {
  const sealed = await seal.close(attempt);
  setSystemTime(Date.now() + (attemptLifetimeS - 2) * 1000);
  expect(await seal.open(sealed)).toEqual(attempt);
  setSystemTime(Date.now() + 4_000);
  expect(await seal.open(sealed)).toBeUndefined();
});

test("A changed attempt, or one sealed with another secret, does not open", async () => {
  const sealed = await seal.close(attempt);
  expect(await createAttemptSeal("another secret").open(sealed)).toBeUndefined();
  const parts = sealed.split(".");
  for (const index of parts.keys()) {
    const changed = parts.with(index, `${(parts[index] ?? "").slice(1)}A`).join(".");
    expect(await seal.open(changed)).toBeUndefined();
  }
  for (const text of ["", "x", "....", "a.b.c.d.e"]) expect(await seal.open(text)).toBeUndefined();
});
