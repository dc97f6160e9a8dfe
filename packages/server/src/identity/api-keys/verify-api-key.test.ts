import { afterEach, beforeEach, describe, expect, jest, setSystemTime, test } from "bun:test";
import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { KeyRecord } from "./api-keys-store.ts";
import { createKeyVerifier } from "./verify-api-key.ts";

const caller = { userId: "user-1", accountId: "account-1", proof: { kind: "key" as const, keyId: "key-1" } };
const minuteMs = 60_000;

function keyRecord(more: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: "key-1",
    user_id: "user-1",
    account_id: "account-1",
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    ...more,
  };
}

const revoked = () => keyRecord({ revoked_at: nowMicros() });

/** A verifier before a store whose every answer the test gives, when it wants to. */
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
    if (asked === undefined) throw new Error(`The store was asked ${questions.length} times, not ${number}.`);
    return asked;
  };
  return {
    verifier,
    uses,
    counted,
    asked: () => questions.length,
    /** Answers the question of that number, counted from 1, and lets the answer take effect. */
    async answer(number: number, record: KeyRecord | undefined) {
      question(number).resolve(record);
      await settle();
    },
    async fail(number: number) {
      question(number).reject(new Error("the store is gone"));
      await settle();
    },
    /** Makes a key known, by the first question. */
    async know(record = keyRecord()) {
      const verified = verifier.verify("key");
      question(1).resolve(record);
      expect(await verified).toEqual(caller);
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

async function codeOf(verified: Promise<unknown>): Promise<string> {
  const outcome = await verified.catch((error: unknown) => error);
  return outcome instanceof ServiceError ? outcome.code : `not refused: ${JSON.stringify(outcome)}`;
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
  setSystemTime();
});

describe("Asking the store", () => {
  test("happens once for calls at one time, and then every 2 s at most, while the known answer is given", async () => {
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

  test("comes first once a known answer is old, so that a revocation elsewhere is known within 5 s", async () => {
    const { verifier, know, answer, asked } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(4_600);
    const verified = verifier.verify("key");
    await answer(2, revoked());
    expect(await verified).toBeUndefined();
    expect(asked()).toBe(2);
  });

  test("counts the age of an answer from the question, as the answer may be as old as that", async () => {
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

  test("is not put off by a wall clock that is set back", async () => {
    const { verifier, know, answer } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(4_600);
    setSystemTime(new Date(Date.now() - 60 * minuteMs));
    const verified = verifier.verify("key");
    await answer(2, revoked());
    expect(await verified).toBeUndefined();
  });

  test("is repeated for a key that was not there: it may be made a moment later", async () => {
    const { verifier, answer } = verifierWithStore();
    const before = verifier.verify("key");
    await answer(1, undefined);
    expect(await before).toBeUndefined();
    const after = verifier.verify("key");
    await answer(2, keyRecord());
    expect(await after).toEqual(caller);
  });

  test("goes by the whole key", async () => {
    const { verifier, know, asked } = verifierWithStore();
    await know();
    void verifier.verify("key of another");
    expect(asked()).toBe(2);
  });
});

describe("A revocation here", () => {
  test("is not undone by the older answer to a first look-up that was under way", async () => {
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

  test("is not undone by the older answer to a refresh that was under way", async () => {
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

  test("is not undone by the older answer to a caller whose patience was at its end", async () => {
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

  test("ends a key that is known, and while the store is down nobody can tell: 503", async () => {
    const { verifier, know, fail } = verifierWithStore();
    await know();
    verifier.forget("digest of key");
    const verified = verifier.verify("key");
    await fail(2);
    expect(await codeOf(verified)).toBe("store_unavailable");
  });
});

describe("While the store fails", () => {
  test("an unknown key cannot be told from a good one: 503, and recovery needs nothing but the next call", async () => {
    const { verifier, answer, fail, counted } = verifierWithStore();
    const failed = verifier.verify("key");
    await fail(1);
    expect(await codeOf(failed)).toBe("store_unavailable");
    const recovered = verifier.verify("key");
    await answer(2, keyRecord());
    expect(await recovered).toEqual(caller);
    expect(counted).toEqual(["unavailable", "looked_up"]);
  });

  test("a known key goes on for 15 minutes, without waiting, and no longer", async () => {
    const { verifier, know, fail, asked } = verifierWithStore();
    await know();
    jest.advanceTimersByTime(5_000);
    const first = verifier.verify("key");
    await fail(2);
    expect(await first).toEqual(caller);
    for (let minute = 0; minute < 14; minute++) {
      for (let second = 0; second < 60; second += 2) {
        const before = asked();
        // Answered from what is known, while the store is asked again behind it.
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

  test("a known key waits half a second for a store that is silent, and then goes on", async () => {
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
    await know(keyRecord({ expires_at: (Date.now() + 6_000) * 1_000 }));
    jest.advanceTimersByTime(5_000);
    const early = verifier.verify("key");
    await fail(2);
    expect(await early).toEqual(caller);
    jest.advanceTimersByTime(1_001);
    expect(await verifier.verify("key")).toBeUndefined();
  });

  test("a revocation elsewhere after it recovered is heeded, though nobody called meanwhile", async () => {
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
  test("is the first one once only, whatever the store still says of it", async () => {
    const { verifier, know, answer, uses } = verifierWithStore();
    await know();
    expect(await verifier.verify("key")).toEqual(caller);
    jest.advanceTimersByTime(3_000);
    await verifier.verify("key");
    await answer(2, keyRecord({ last_used_at: null }));
    await verifier.verify("key");
    expect(uses).toEqual([true, false, false, false]);
  });

  test("of a key that is refused is none", async () => {
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
