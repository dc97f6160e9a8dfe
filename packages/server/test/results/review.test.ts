import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CorrectionResponse, DisagreementListResponse, ReviewQueueResponse } from "@presage/contract";
import { defaultProfileName } from "@presage/contract/defaults";
import { builtInProfileId, builtInProfileRevisions } from "../../src/evaluators/profiles/profiles.ts";
import { createRegistry, ruleFamilies } from "../../src/evaluators/registry.ts";
import { queueForReview } from "../../src/results/review.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { evaluationResultsClient, resultsPath } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import {
  evaluatorProfileClient,
  nowhere,
  path as profilesPath,
} from "../support/resources/evaluator-profiles.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeOf } from "../support/store/store-of.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let stranger: Record<string, string>;
  let app: string;
  let tests = 0;
  const { post, find, correct, summary } = evaluationResultsClient(() => presage);
  const { resultOf } = evaluationClient(() => presage);
  const profiles = evaluatorProfileClient(() => presage);

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });
  beforeEach(() => {
    tests += 1;
    app = `app of test ${tests}`;
  });

  async function store(...fields: StoredFields[]): Promise<string[]> {
    await using opened = await openStore(presage.databaseUrl);
    const all = fields.map((field) => ({ ...field, metadata: { app, ...field.metadata } }));
    const results = await storeResults(opened.database, opened.owner.account_id, all);
    return results.map(({ id }) => String(id));
  }

  async function queue(body: Record<string, unknown> = {}, headers?: Record<string, string>) {
    const response = await post("/review", { app, ...body }, headers);
    expect(response.status).toBe(200);
    return ReviewQueueResponse.parse(await response.json());
  }

  const withdraw = (id: string, headers?: Record<string, string>) =>
    presage.call("DELETE", `${resultsPath}/${id}/correction`, undefined, headers);

  /** A verdict by a family that passes from 0.5 on, unless its profile says otherwise. */
  const scored = (score: number, pass = score >= 0.5): StoredFields => ({
    evaluatorId: "rouge-l-2026-11-21",
    evaluatorFamily: "rouge-l",
    profile: {
      name: defaultProfileName,
      publicId: builtInProfileId("rouge-l", defaultProfileName),
      revision: 1,
    },
    outcome: { status: "success", pass, score },
  });

  test("scores nearest to their threshold come first, without those that were reviewed", async () => {
    const [far = "", near = "", reviewed = "", middling = ""] = await store(
      scored(0.95),
      scored(0.52),
      scored(0.46),
      scored(0.2),
      // A score alone is no verdict.
      { outcome: { status: "success", score: 0.4 } },
    );
    await correct(reviewed, { pass: true });
    const { considered, reviewed: count, data } = await queue();
    expect({ considered, count }).toEqual({ considered: 4, count: 1 });
    expect(data.map(({ id, reason }) => [id, reason])).toEqual([
      [near, "near-threshold"],
      [middling, "drawn"],
      [far, "drawn"],
    ]);
    expect(data[0]?.distance).toBeCloseTo(0.02, 9);
    expect((await queue({ limit: 1 })).data.map(({ id }) => id)).toEqual([near]);
    expect((await queue({}, stranger)).considered).toBe(0);
  });

  test("a threshold is that of the profile's revision, and a text that equals its gold answer is not offered", async () => {
    const profile = await profiles.create({
      evaluator_family: "edit-distance",
      name: "close",
      config: { threshold: 0.2 },
    });
    await profiles.revise(profile, { config: { threshold: 1 } });
    const judge = async (evaluators: unknown[], output: string) =>
      String(
        (
          await resultOf({
            app,
            evaluators,
            evaluated_model_output: output,
            evaluated_model_gold_answer: "A closed door.",
          })
        ).id,
      );
    const strict = [{ evaluator: "edit-distance", profile_name: "close" }];
    const [near, ..._] = [
      await judge(strict, "A closed doors."),
      await judge(strict, "A closed door."),
      await judge(strict, " A closed door.\n"),
      await judge([{ evaluator: "edit-distance", profile_name: "close:1" }], "A door."),
      await judge([{ evaluator: "exact-match" }], "A closed door."),
      await judge([{ evaluator: "exact-match" }], "A closed doors."),
    ];
    const { considered, data } = await queue();
    expect(considered).toBe(6);
    expect(data.map(({ id, reason }) => id === near || reason)).toEqual([true, "drawn", "drawn"]);
    expect(data.map(({ distance }) => distance)).toEqual([expect.closeTo(1 / 15, 9), null, null]);
    // A random draw includes all verdicts.
    expect((await queue({ order: "random" })).data).toHaveLength(6);
  });

  test("repeats that disagree come before all else, one of each sample", async () => {
    const repeat = (run: string, sample: string, pass: boolean): StoredFields => ({
      outcome: { status: "success", pass, score: Number(pass) },
      metadata: { app, runId: run, datasetSampleId: sample },
    });
    const [, odd = ""] = await store(
      repeat("run", "s1", true),
      repeat("run", "s1", false),
      repeat("run", "s1", true),
      repeat("run", "s2", true),
      repeat("other run", "s2", false),
    );
    const { data } = await queue();
    expect(data[0]).toMatchObject({
      id: odd,
      reason: "repeats-disagree",
      repeats: { passed: 2, not_passed: 1 },
    });
    expect(data).toHaveLength(3);
    await correct(odd, { pass: true });
    expect((await queue()).data.map(({ reason }) => reason)).not.toContain("repeats-disagree");
  });

  test("what evaluators of a run disagree on comes first, also where one of them is asked for", async () => {
    const said = (evaluatorId: string, sample: string, pass: boolean): StoredFields => ({
      evaluatorId,
      outcome: { status: "success", pass, score: Number(pass) },
      metadata: { app, runId: app, datasetSampleId: sample },
    });
    const [, , first = "", second = ""] = await store(
      said("one", "s1", true),
      said("other", "s1", true),
      said("one", "s2", true),
      said("other", "s2", false),
    );
    const disagreement = {
      reason: "evaluators-disagree" as const,
      evaluators: { passed: 1, not_passed: 1 },
      repeats: null,
    };
    expect((await queue()).data[0]).toEqual({ id: second, distance: null, ...disagreement });
    const ofOne = await queue({ evaluator_id: "one" });
    expect(ofOne).toMatchObject({
      considered: 2,
      data: [{ id: first, ...disagreement }, { reason: "drawn" }],
    });
    await post(`/${second}/labels`, { label: "fail" });
    expect((await queue({ evaluator_id: "one" })).data.map(({ reason }) => reason)).toEqual([
      "drawn",
      "drawn",
    ]);
  });

  test("of what is uncertain, baselines' answers are offered only of a run that is named", async () => {
    const datasets = datasetClient(presage);
    const dataset_id = await datasets.create();
    const interaction = { state: "You are in the hall.", action: "wait" };
    await datasets.uploadNew(dataset_id, [{ trajectory_id: "a", step: 0, interaction, next_state: "So." }]);
    const { id: runId } = await runClient(presage).create({ dataset_id, target: { baseline: "no-change" } });
    const [ofModel = "", ofBaseline = ""] = await store(scored(0.52), {
      ...scored(0.5),
      metadata: { app, runId },
    });
    expect((await queue()).data.map(({ id }) => id)).toEqual([ofModel]);
    const { data } = await queue({ evaluation_run_id: runId });
    expect(data.map(({ id }) => id)).toEqual([ofBaseline]);
    expect((await queue({ order: "random" })).data).toHaveLength(2);
  });

  test("a random order is the seed's", async () => {
    await store(...Array.from({ length: 30 }, () => scored(1)));
    const idsOf = async (seed: number) =>
      (await queue({ order: "random", seed, limit: 30 })).data.map(({ id }) => id);
    const first = await idsOf(1);
    expect(new Set(first).size).toBe(30);
    expect(await idsOf(1)).toEqual(first);
    expect(await idsOf(2)).not.toEqual(first);
  });

  describe("where more match than are read", () => {
    const all = 400;
    const readsUpTo = 40;

    /** Stores many verdicts; one of the oldest is uncertain. */
    async function storeMany(): Promise<string> {
      const fields = Array.from({ length: all }, (_, index) => scored(index % 2));
      fields[7] = scored(0.48);
      fields[8] = scored(0.53);
      fields[20] = scored(0.9);
      const ids = await store(...fields);
      return ids[7] ?? "";
    }

    async function readQueue(order: "random" | "least-certain", seed: number, limit: number) {
      await using opened = await openStore(presage.databaseUrl);
      const builtInProfiles = builtInProfileRevisions(ruleFamilies);
      const services = {
        store: storeOf(opened.database),
        registry: createRegistry(ruleFamilies),
        builtInProfiles,
      };
      const wanted = { filter: { status: "success" as const, app }, order, seed, limit };
      return await queueForReview(services, anyRequester(opened.owner.account_id), wanted, readsUpTo);
    }

    test("a random order is from all of them", async () => {
      const oldest = Number(await storeMany()) - 7;
      const seen = new Set<number>();
      for (let seed = 1; seed <= 20; seed += 1) {
        const { items, has_more } = await readQueue("random", seed, 10);
        expect({ has_more, count: items.length }).toEqual({ has_more: true, count: 10 });
        for (const { id } of items) seen.add(id);
      }
      const isOld = (id: number) => id < oldest + all / 2;
      // About half of 200 draws are from the older half; the newest 40 alone would include none.
      expect([...seen].filter(isOld).length).toBeGreaterThan(40);
    });

    test("the least certain is found among all of them", async () => {
      const uncertain = await storeMany();
      const { items } = await readQueue("least-certain", 1, 5);
      expect(items[0]).toMatchObject({ reason: "near-threshold" });
      expect(items.slice(0, 2).map(({ id }) => String(id))).toContain(uncertain);
      await correct(uncertain, { pass: true });
      const later = await readQueue("least-certain", 1, 5);
      expect(later.items.map(({ id }) => String(id))).not.toContain(uncertain);
    });
  });

  test("a withdrawn correction leaves the verdict from before it", async () => {
    const [id = ""] = await store(scored(0.25));
    await correct(id, { pass: true, score_raw: 0.75 });
    await correct(id, { pass: true, score_raw: 1, comment: "Oh." });
    const response = await withdraw(id);
    expect(response.status).toBe(200);
    const { evaluation_result } = CorrectionResponse.parse(await response.json());
    expect(evaluation_result.correction).toMatchObject({ pass: true, score_raw: 0.75, comment: null });
    expect((await summary({ app })).groups).toMatchObject([{ passed: 1, not_passed: 0, p50: 0.75 }]);
    expect((await withdraw(id)).status).toBe(200);
    expect((await find(id)).correction).toBeNull();
    for (const more of [{}, { after_id: 0 }]) {
      const { groups } = await summary({ app, ...more });
      expect(groups).toMatchObject([{ count: 1, passed: 0, not_passed: 1, mean_score: 0.25 }]);
    }
    expect((await queue()).data.map((item) => item.id)).toEqual([id]);
    expect((await withdraw(id)).status).toBe(404);
  });

  test("only one's own result and correction can be withdrawn", async () => {
    const [id = ""] = await store(scored(1));
    await correct(id, { pass: false });
    expect((await withdraw(id, stranger)).status).toBe(404);
    expect((await withdraw("999999999")).status).toBe(404);
    await using opened = await openStore(presage.databaseUrl);
    await opened.database
      .updateTable("evaluation_corrections")
      .set({ user_id: "someone else" })
      .where("result_id", "=", Number(id))
      .execute();
    expect((await withdraw(id)).status).toBe(404);
    expect((await find(id)).correction).not.toBeNull();
  });

  test("a profile lists the verdicts that people turned round, the latest first", async () => {
    const { public_id } = await profiles.create({
      evaluator_family: "contains",
      name: "doors",
      config: { substrings: ["door"] },
    });
    const judge = async (output: string) =>
      String(
        (
          await resultOf({
            evaluators: [{ evaluator: "contains", profile_name: "doors" }],
            evaluated_model_output: output,
          })
        ).id,
      );
    const [gate, door, confirmed] = [
      await judge("The gate opens."),
      await judge("No door."),
      await judge("-"),
    ];
    await correct(gate, { pass: true, comment: "A gate is a door." });
    await correct(door, { pass: false });
    await correct(confirmed, { pass: false });
    const list = async (query = "", headers?: Record<string, string>) =>
      await presage.call("GET", `${profilesPath}/${public_id}/disagreements${query}`, undefined, headers);
    const { data } = DisagreementListResponse.parse(await (await list()).json());
    expect(data.map(({ result_id }) => result_id)).toEqual([door, gate]);
    expect(data[1]).toMatchObject({
      pass: false,
      revision: 1,
      output: "The gate opens.",
      correction: { pass: true, comment: "A gate is a door." },
    });
    const one = DisagreementListResponse.parse(await (await list("?limit=1")).json());
    expect(one.data.map(({ result_id }) => result_id)).toEqual([door]);
    expect((await list("", stranger)).status).toBe(404);
    expect((await presage.call("GET", `${profilesPath}/${nowhere}/disagreements`)).status).toBe(404);
  });
});
