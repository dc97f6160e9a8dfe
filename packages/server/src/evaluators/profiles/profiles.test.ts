import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openStore } from "../../../test/support/store/open-store.ts";
import { anyRequester } from "../../../test/support/store/requester.ts";
import { storeOf } from "../../../test/support/store/store-of.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Family } from "../family.ts";
import { EvaluationError } from "../outcome.ts";
import { exactMatch } from "../rules/exact-match.ts";
import { jsonSchema } from "../rules/json-schema.ts";
import { archiveProfile, checkConfig, createProfile } from "./profiles.ts";

onEachDatabase(({ create }) => {
  test("A profile is archived when its revisions are read, and not if they are refused earlier", async () => {
    await using store = await openStore(await create());
    const { database } = store;
    const services = { store: storeOf(database), builtInProfiles: [] };
    const requester = anyRequester(store.owner.account_id);
    const config = await checkConfig(
      exactMatch,
      {},
      () => undefined,
      async () => undefined,
    );
    if ("issues" in config) throw new Error("unreachable");
    const profile = { config, name: "archived", description: undefined };
    const { public_id } = await createProfile(services, requester, profile);
    const archivedAt = async () =>
      (
        await database
          .selectFrom("evaluator_profiles")
          .select("archived_at")
          .where("public_id", "=", public_id)
          .executeTakeFirstOrThrow()
      ).archived_at;

    const revisions = await archiveProfile(services, requester, public_id);
    expect([revisions.count, revisions.maxBytes > 0, await archivedAt()]).toEqual([1, true, null]);
    const [[read] = []] = await Array.fromAsync(revisions.read());
    expect(read?.archived_at).toBeGreaterThan(0);
    expect(await archivedAt()).toBe(read?.archived_at ?? 0);
  });
});

const words = () => "in our words";
const noThread = () => Promise.reject(new Error("there is nothing heavy"));

/** An integer that a double cannot represent, as the parser of requests keeps it. */
function longInteger(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}

function familyOf(config: z.ZodType): Family {
  return { ...exactMatch, config };
}

describe("Checking a config", () => {
  test("keeps what the caller sent, in order and without defaults", async () => {
    expect(await checkConfig(exactMatch, { strip_tags: true, trim: false }, words, noThread)).toMatchObject({
      family: exactMatch,
      json: '{"strip_tags":true,"trim":false}',
    });
  });

  test("checks a long integer as the number that an evaluation reads, and keeps its digits", async () => {
    const seeded = familyOf(z.strictObject({ seed: z.number().max(1e20) }));
    const config = { seed: longInteger("12345678901234567890") };
    expect(await checkConfig(seeded, config, words, noThread)).toMatchObject({
      json: '{"seed":12345678901234567890}',
    });
    expect(
      await checkConfig(seeded, { seed: longInteger("100000000000000000001000000") }, words, noThread),
    ).toMatchObject({
      issues: [{ code: "too_big", path: ["seed"] }],
    });
  });

  test("words every issue with the given error map", async () => {
    expect(await checkConfig(exactMatch, { trim: 1, typo: true }, words, noThread)).toMatchObject({
      issues: [
        { path: ["trim"], message: "in our words" },
        { code: "unrecognized_keys", keys: ["typo"], message: "in our words" },
      ],
    });
  });

  test("leaves a long schema to a thread, and reports the issue at its path", async () => {
    const config = { schema: { enum: Array.from({ length: 1_000 }, (_, index) => index) } };
    const asked: unknown[] = [];
    const checkWith = (outcome: Promise<string | undefined>) =>
      checkConfig(jsonSchema, config, words, (task) => {
        asked.push(task);
        return outcome;
      });
    expect(await checkWith(Promise.resolve(undefined))).toMatchObject({ json: JSON.stringify(config) });
    expect(asked).toEqual([{ familyName: "json-schema", config: { ...config, strip_tags: true } }]);
    expect(await checkWith(Promise.resolve("it is wrong"))).toMatchObject({
      issues: [{ path: ["schema"], message: "it is wrong" }],
    });
    expect(await checkWith(Promise.reject(new EvaluationError("timeout", "late")))).toMatchObject({
      issues: [{ path: ["schema"], message: "Checking the config takes too long; simplify it" }],
    });
    expect(
      await checkWith(Promise.reject(new EvaluationError("overloaded", "full"))).catch((error) => error),
    ).toMatchObject(new ServiceError("overloaded", "full", { retryAfterS: 1 }));
  });
});
