import { afterEach, beforeEach, describe, expect, jest, setSystemTime, test } from "bun:test";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import type { KeyRecord } from "./api-keys-store.ts";
import { createKeyVerifier } from "./verify-api-key.ts";

const caller = {
  userId: "user-1",
  accountId: "account-1",
  role: "owner" as const,
  proof: {
    kind: "key" as const,
    keyId: "key-1",
    keyName: "training",
    expiresAt: null,
    limits: { ratePerMinute: null, maxInFlight: null },
    capture: null,
    scopes: null,
  },
};
const minuteMs = 60_000;

function keyRecord(more: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: "key-1",
    name: "training",
    user_id: "user-1",
    account_id: "account-1",
    role: "owner",
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    rate_limit_rpm: null,
    max_in_flight: null,
    capture: null,
    scopes: null,
    ...more,
  };
}

const revoked = () => keyRecord({ revoked_at: nowMicros() });

/** A verifier whose look-ups are answered when the test says so. */
function verifierWithStore() {
  const questions: PromiseWithResolvers<KeyRecord | undefined>[] = [];
  const uses: boolean[] = [];
  const counted: string[] = [];
  const verifier = createKeyVerifier({
    digestOf: (key) => `digest of ${key}`,
    find() {
      const question = Promise.withResolvers<KeyRecord | undefined>();
      questions.push(question);
      return question.promise;
    },
    recordUse: (_keyId, isFirst) => uses.push(isFirst),
    count: (verification) => counted.push(verification),
  });
  const question = (number: number) => {
    const asked = questions[number - 1];
    if (asked === undefined) throw new Error(`There were ${questions.length} look-ups, not ${number}.`);
    return asked;
  };
  return {
    verifier,
    uses,
    counted,
    asked: () => questions.length,
    /** Answers the look-up with this number, counted from 1, and lets the result take effect. */
    async answer(number: number, record: KeyRecord | undefined) {
      question(number).resolve(record);
      await settle();
    },
    async fail(number: number) {
      question(number).reject(new Error("the database is down"));
      await settle();
    },
    /** Makes a key known with the first look-up. */
    async know(record = keyRecord()) {
      const verified = verifier.verify("key");
      question(1).resolve(record);
      expect(await verified).toMatchObject({ ...caller, proof: { keyId: caller.proof.keyId } });
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

async function codeOf(verified: unknown): Promise<string> {
  const outcome = await Promise.resolve(verified).catch((error: unknown) => error);
  return outcome instanceof ServiceError ? outcome.code : `not refused: ${JSON.stringify(outcome)}`;
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
  setSystemTime();
});

describe("Looking up a key", () => {
  test("happens once for concurrent calls, then at most every 2 s while the known result is used", async () => {
    const { verifier, answer, asked, counted } = verifierWithStore();
    const calls = Array.from({ length: 50 }, () => verifier.verify("key"));
    expect(asked()).toBe(1);
    await answer(1, keyRecord());
    expect(await Promise.all(calls)).toEqual(Array(50).fill(caller));
    jest.advanceTimersByTime(1_900);
    expect(await verifier.verify("key")).toEqual(caller);
    expect(asked()).toBe(1);
    jest.advanceTimersByTime(200);
    for (let call = 0; call < 10; call++) expect(await verifier.verify("key")).toEqual(caller);
    expect(asked()).toBe(2);
    expect(counted).toEqual([...Array(50).fill("looked_up"), ...Array(11).fill("cached")]);
  });

  test("comes first when a known result is old, so that a revocation elsewhere takes effect within 5 s", async () => {
    const { verifier, know, answer, asked } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(4_600);
    const verified = verifier.verify("key");
    await answer(2, revoked());
    expect(await verified).toBeUndefined();
    expect(asked()).toBe(2);
  });

  test("counts a result's age from the start of the look-up", async () => {
    const { verifier, answer, asked } = verifierWithStore();
    const first = verifier.verify("key");
    jest.advanceTimersByTime(4_600);
    await answer(1, keyRecord());
    expect(await first).toEqual(caller);
    const second = verifier.verify("key");
    await answer(2, revoked());
    expect(await second).toBeUndefined();
    expect(asked()).toBe(2);
  });

  test("is not delayed when the wall clock is set back", async () => {
    const { verifier, know, answer } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(4_600);
    setSystemTime(new Date(Date.now() - 60 * minuteMs));
    const verified = verifier.verify("key");
    await answer(2, revoked());
    expect(await verified).toBeUndefined();
  });

  test("is repeated for an unknown key, which may be created a moment later", async () => {
    const { verifier, answer } = verifierWithStore();
    const before = verifier.verify("key");
    await answer(1, undefined);
    expect(await before).toBeUndefined();
    const after = verifier.verify("key");
    await answer(2, keyRecord());
    expect(await after).toEqual(caller);
  });

  test("uses the whole key", async () => {
    const { verifier, know, asked } = verifierWithStore();
    await know();
    void verifier.verify("key of another");
    expect(asked()).toBe(2);
  });
});

describe("A revocation here", () => {
  test("is not undone by an older first look-up", async () => {
    const { verifier, answer, asked } = verifierWithStore();
    const underWay = verifier.verify("key");
    verifier.forget("digest of key");
    const afterwards = verifier.verify("key");
    await answer(1, keyRecord());
    expect(asked()).toBe(2);
    await answer(2, revoked());
    expect(await Promise.all([underWay, afterwards])).toEqual([undefined, undefined]);
    const later = verifier.verify("key");
    await answer(3, revoked());
    expect(await later).toBeUndefined();
  });

  test("is not undone by an older refresh", async () => {
    const { verifier, know, answer, asked } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(3_000);
    expect(await verifier.verify("key")).toEqual(caller);
    expect(asked()).toBe(2);
    verifier.forget("digest of key");
    const afterwards = verifier.verify("key");
    await answer(2, keyRecord());
    await answer(3, revoked());
    expect(await afterwards).toBeUndefined();
  });

  test("is not undone by an older look-up that its caller no longer waits for", async () => {
    const { verifier, know, answer } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(5_000);
    const impatient = verifier.verify("key");
    jest.advanceTimersByTime(600);
    expect(await impatient).toEqual(caller);
    verifier.forget("digest of key");
    const afterwards = verifier.verify("key");
    await answer(2, keyRecord());
    await answer(3, revoked());
    expect(await afterwards).toBeUndefined();
  });

  test("of another key repeats no look-up", async () => {
    const { verifier, answer, asked } = verifierWithStore();
    const verified = verifier.verify("key");
    verifier.forget("digest of another key");
    await answer(1, keyRecord());
    expect(asked()).toBe(1);
    expect(await verified).toEqual(caller);
  });

  test("repeats only the look-up that was under way", async () => {
    const { verifier, answer, asked } = verifierWithStore();
    const underWay = verifier.verify("key");
    verifier.forget("digest of key");
    await answer(1, keyRecord());
    await answer(2, keyRecord());
    expect(await underWay).toEqual(caller);
    verifier.forget("digest of key");
    const next = verifier.verify("key");
    await answer(3, keyRecord());
    expect(await next).toEqual(caller);
    expect(asked()).toBe(3);
  });

  test("ends a known key; while the database is down its checks get 503", async () => {
    const { verifier, know, fail } = verifierWithStore();
    await know();
    verifier.forget("digest of key");
    const verified = verifier.verify("key");
    await fail(2);
    expect(await codeOf(verified)).toBe("store_unavailable");
  });
});

describe("While the database is down", () => {
  test("an unknown key gets 503, and works with the next call after recovery", async () => {
    const { verifier, answer, fail, counted } = verifierWithStore();
    const failed = verifier.verify("key");
    await fail(1);
    expect(await codeOf(failed)).toBe("store_unavailable");
    const recovered = verifier.verify("key");
    await answer(2, keyRecord());
    expect(await recovered).toEqual(caller);
    expect(counted).toEqual(["unavailable", "looked_up"]);
  });

  test("a known key works for 15 minutes, without waiting", async () => {
    const { verifier, know, fail, asked } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(5_000);
    const first = verifier.verify("key");
    await fail(2);
    expect(await first).toEqual(caller);
    for (let minute = 0; minute < 14; minute++) {
      for (let second = 0; second < 60; second += 2) {
        const before = asked();
        // Uses the known result while the key is looked up again in the background.
        expect(await verifier.verify("key")).toEqual(caller);
        expect(asked()).toBe(before + 1);
        await fail(asked());
        jest.advanceTimersByTime(2_000);
      }
    }
    jest.advanceTimersByTime(2 * minuteMs);
    const late = verifier.verify("key");
    await fail(asked());
    expect(await codeOf(late)).toBe("store_unavailable");
  });

  test("a known key waits half a second for a database that does not respond, then works", async () => {
    const { verifier, know, asked } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(5_000);
    const verified = verifier.verify("key");
    jest.advanceTimersByTime(600);
    expect(await verified).toEqual(caller);
    expect(await verifier.verify("key")).toEqual(caller);
    expect(asked()).toBe(2);
  });

  test("a known key still expires", async () => {
    const { verifier, know, fail } = verifierWithStore();
    const expires_at = (Date.now() + 6_000) * 1_000;
    await know(keyRecord({ expires_at }));
    jest.advanceTimersByTime(5_000);
    const early = verifier.verify("key");
    await fail(2);
    expect(await early).toEqual({ ...caller, proof: { ...caller.proof, expiresAt: expires_at } });
    jest.advanceTimersByTime(1_001);
    expect(await verifier.verify("key")).toBeUndefined();
  });

  test("a revocation elsewhere takes effect after recovery, although there were no calls meanwhile", async () => {
    const { verifier, know, fail, answer } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(5_000);
    const during = verifier.verify("key");
    await fail(2);
    expect(await during).toEqual(caller);
    jest.advanceTimersByTime(10 * minuteMs);
    const after = verifier.verify("key");
    await answer(3, revoked());
    expect(await after).toBeUndefined();
  });
});

describe("A use", () => {
  test("is the first one only once, even if the database does not know it yet", async () => {
    const { verifier, know, answer, uses } = verifierWithStore();
    await know();
    expect(await verifier.verify("key")).toEqual(caller);
    jest.advanceTimersByTime(3_000);
    await verifier.verify("key");
    await answer(2, keyRecord({ last_used_at: null }));
    await verifier.verify("key");
    expect(uses).toEqual([true, false, false, false]);
  });

  test("of a refused key is not recorded", async () => {
    const { verifier, answer, uses, counted } = verifierWithStore();
    for (const [number, record] of [undefined, revoked(), keyRecord({ expires_at: nowMicros() })].entries()) {
      const verified = verifier.verify("key");
      await answer(number + 1, record);
      expect(await verified).toBeUndefined();
      verifier.forget("digest of key");
    }
    expect([uses, counted]).toEqual([[], ["refused", "refused", "refused"]]);
  });
});
