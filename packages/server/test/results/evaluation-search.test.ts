import { beforeAll, describe, expect, test } from "bun:test";
import type { StoredResult } from "../../src/results/result.ts";
import type { SearchFilter } from "../../src/results/search/filter.ts";
import { choosePath } from "../../src/results/search/search-store.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient, resultsPath } from "../support/resources/evaluation-results.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { seeded } from "../support/seeded.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";
import { isWholeRun } from "../support/whole-run.ts";

const firstTime = Date.UTC(2026, 5, 1) * 1000;
const microsPerMinute = 60_000_000;
const profileIds = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"];

/** Every field cycles through its values at its own period, so that all combinations occur. */
function fieldsOf(index: number): StoredFields {
  const of = <Value>(...values: Value[]) =>
    values[Math.floor(index * 0.618 * values.length) % values.length] as Value;
  const at = <Value>(...values: Value[]) => values[index % values.length] as Value;
  const score = at(0, 1, 1 / 3, 0.1234, 0.98765, 0.5, 0.4996, 0.04, 0.0796, undefined);
  const status = index % 11 === 5 ? "failed" : index % 17 === 3 ? "validation_error" : "success";
  const pass = score === undefined ? undefined : score >= 0.5;
  return {
    createdAt: firstTime + Math.floor(index / 2) * microsPerMinute,
    evaluatorId: of("exact-match-2026-11-01", "judge-2026-11-01", "somebody's"),
    evaluatorFamily: of("exact-match", "judge"),
    profile: { name: at("one", "two", "three"), publicId: at(...profileIds), revision: at(1, 2) },
    explainStrategy: of("always", "never", "on-fail"),
    metadata: {
      app: at("default", "default", "shop"),
      ...(index % 4 === 0 ? { datasetId: of("d1", "d2") } : {}),
      ...(index % 6 === 0 ? { datasetSampleId: at<number | string>(7, "7", "boil/9") } : {}),
      ...(index % 5 === 0 ? { runId: of("r1", "r2") } : {}),
      ...(index % 3 === 0 ? { tags: { env: at("prod", "test"), tier: of("gold", "tin"), "": "x" } } : {}),
    },
    outcome:
      status === "success"
        ? { status, ...(score === undefined ? {} : { score }), ...(pass === undefined ? {} : { pass }) }
        : { status, errorMessage: "timeout: it took too long" },
  };
}

onEachDatabase((database) => {
  const presage = usePresage({ database });
  let stored: StoredResult[];
  const { post, search, searchAll } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await using store = await openStore(presage.databaseUrl);
    const fields = Array.from({ length: 300 }, (_, index) => fieldsOf(index));
    stored = await storeResults(store.database, store.owner.account_id, fields);
  });

  type Fits = (result: StoredResult) => boolean;
  const isSuccess: Fits = ({ outcome }) => outcome.status === "success";
  const score = ({ outcome }: StoredResult) => outcome.score ?? Number.NaN;
  const time = (minutes: number) => new Date(firstTime / 1000 + minutes * 60_000).toISOString();
  const filters: [name: string, filter: Record<string, unknown>, fits: Fits][] = [
    ["nothing", {}, () => true],
    ["an app", { app: "shop" }, ({ metadata }) => metadata.app === "shop"],
    ["an app that is not there", { app: "nowhere" }, () => false],
    ["an evaluator", { evaluator_id: "somebody's" }, ({ evaluatorId }) => evaluatorId === "somebody's"],
    ["a family", { evaluator_family: "judge" }, ({ evaluatorFamily }) => evaluatorFamily === "judge"],
    ["a profile", { profile_name: "two" }, ({ profile }) => profile?.name === "two"],
    ["criteria", { criteria: "three" }, ({ profile }) => profile?.name === "three"],
    [
      "a profile's id",
      { evaluator_profile_public_id: profileIds[0]?.toUpperCase() },
      ({ profile }) => profile?.publicId === profileIds[0],
    ],
    [
      "a revision of a profile",
      { evaluator_profile_public_id: profileIds[0], evaluator_profile_revision: 1 },
      ({ profile }) => profile?.publicId === profileIds[0] && profile?.revision === 1,
    ],
    ["a revision", { evaluator_profile_revision: 2 }, ({ profile }) => profile?.revision === 2],
    ["a dataset", { dataset_id: "d2" }, ({ metadata }) => metadata.datasetId === "d2"],
    ["a sample", { dataset_sample_id: "boil/9" }, ({ metadata }) => metadata.datasetSampleId === "boil/9"],
    [
      "a sample's number, also where it is a text",
      { dataset_sample_id: 7 },
      ({ metadata }) => String(metadata.datasetSampleId) === "7",
    ],
    ["a run", { evaluation_run_id: "r1" }, ({ metadata }) => metadata.runId === "r1"],
    [
      "an explain strategy",
      { explain_strategy: "never" },
      ({ explainStrategy }) => explainStrategy === "never",
    ],
    ["a pass", { pass: true }, ({ outcome }) => outcome.pass === true],
    ["a fail", { pass: false }, ({ outcome }) => outcome.pass === false],
    ["a tag", { tags: { env: "prod" } }, ({ metadata }) => metadata.tags?.env === "prod"],
    [
      "two tags",
      { tags: { env: "prod", tier: "tin" } },
      ({ metadata }) => metadata.tags?.env === "prod" && metadata.tags.tier === "tin",
    ],
    ["a tag of another value", { tags: { env: "gold" } }, () => false],
    ["a least score", { score_raw_min: 0.5 }, (result) => score(result) >= 0.5],
    ["a least score inside a thousandth", { score_raw_min: 0.4997 }, (result) => score(result) >= 0.4997],
    ["a greatest score", { score_raw_max: 0.1234 }, (result) => score(result) <= 0.1234],
    ["a greatest score just below", { score_raw_max: 0.12339 }, (result) => score(result) <= 0.12339],
    [
      "two bounds",
      { score_raw_min: 0.0796, score_raw_max: 0.4 },
      (result) => score(result) >= 0.0796 && score(result) <= 0.4,
    ],
    ["one score", { score_raw_min: 1 / 3, score_raw_max: 1 / 3 }, (result) => score(result) === 1 / 3],
    ["any score", { score_raw_min: -1, score_raw_max: 2 }, (result) => score(result) >= 0],
    ["crossed bounds", { score_raw_min: 0.6, score_raw_max: 0.4 }, () => false],
    [
      "later times",
      { after_datetime: time(100) },
      ({ createdAt }) => createdAt > firstTime + 100 * microsPerMinute,
    ],
    [
      "earlier times",
      { before_datetime: time(7) },
      ({ createdAt }) => createdAt < firstTime + 7 * microsPerMinute,
    ],
    [
      "a time between",
      { after_datetime: time(20), before_datetime: time(22) },
      ({ createdAt }) => createdAt === firstTime + 21 * microsPerMinute,
    ],
    ["no time yet", { after_datetime: "2999-01-01T00:00:00" }, () => false],
    ["all time", { before_datetime: "2999-01-01T00:00:00+01:00" }, () => true],
    [
      "everything at once",
      {
        app: "default",
        evaluator_family: "exact-match",
        explain_strategy: "always",
        pass: false,
        score_raw_max: 0.2,
        tags: { env: "prod" },
        after_datetime: time(3),
      },
      (result) =>
        result.metadata.app === "default" &&
        result.evaluatorFamily === "exact-match" &&
        result.explainStrategy === "always" &&
        result.outcome.pass === false &&
        score(result) <= 0.2 &&
        result.metadata.tags?.env === "prod" &&
        result.createdAt > firstTime + 3 * microsPerMinute,
    ],
    [
      "a score and a verdict",
      { pass: true, score_raw_min: 0.9, profile_name: "one" },
      (result) => result.outcome.pass === true && score(result) >= 0.9 && result.profile?.name === "one",
    ],
    [
      "a common tag and a rare run",
      { tags: { "": "x" }, evaluation_run_id: "r2" },
      ({ metadata }) => metadata.tags !== undefined && metadata.runId === "r2",
    ],
  ];

  describe("A search", () => {
    test.each(filters)("by %s finds exactly the matching results, page by page", async (_, filter, fits) => {
      const wanted = stored.filter((result) => isSuccess(result) && fits(result)).map(({ id }) => id);
      expect(await searchAll({ ...filter, order: "created_at" }, 31)).toEqual(wanted);
      expect(await searchAll(filter, 31)).toEqual(wanted.toReversed());
    });

    test(
      "by several filters at once finds exactly the matching results",
      seeded(async (draw) => {
        for (let round = 0; round < (isWholeRun ? 20 : 8); round += 1) {
          const chosen = Array.from({ length: 2 + draw.below(3) }, () => draw.pick(filters));
          // The criteria are the profile's name.
          const names = chosen.flatMap(([, { criteria: profile_name, ...filter }]) =>
            Object.keys(profile_name === undefined ? filter : { profile_name, ...filter }),
          );
          if (new Set(names).size < names.length) continue;
          const filter: Record<string, unknown> = Object.assign({}, ...chosen.map(([, fields]) => fields));
          const wanted = stored.filter(
            (result) => isSuccess(result) && chosen.every(([, , fits]) => fits(result)),
          );
          const ids = wanted.map(({ id }) => id);
          expect([filter, await searchAll({ ...filter, order: "created_at" }, 31)]).toEqual([filter, ids]);
          expect([filter, await searchAll(filter, 31)]).toEqual([filter, ids.toReversed()]);
        }
      }),
    );

    test.each(["newest-first", "oldest-first"] as const)(
      "%s walks the rarest of several filters, also if all are common",
      async (order) => {
        await using store = await openStore(presage.databaseUrl);
        const accountId = store.owner.account_id;
        const pathOf = async (filter: Partial<SearchFilter>, upTo: number) => {
          const search = {
            accountId,
            filter: { status: "success" as const, ...filter },
            page: { order, limit: 5 },
          };
          return (await choosePath(store.database, search, upTo)).path;
        };
        for (const upTo of [10, 1_000]) {
          expect(await pathOf({ tags: { env: "prod" }, app: "default" }, upTo)).toMatchObject({ by: "tag" });
          expect(await pathOf({ tags: { "": "x" }, runId: "r2" }, upTo)).toMatchObject({ column: "run_id" });
          expect(await pathOf({ app: "default", minScore: 0 }, upTo)).toMatchObject({ column: "app" });
        }
      },
    );

    test("finds failed evaluations by their status only", async () => {
      const failed = stored.filter(({ outcome }) => outcome.status === "failed").map(({ id }) => id);
      expect(await searchAll({ status: "failed", order: "created_at" }, 7)).toEqual(failed);
      const narrower = await search({ status: "validation_error", app: "default", tags: { env: "test" } });
      expect(narrower.map(({ id }) => Number(id)).toReversed()).toEqual(
        stored
          .filter(
            ({ outcome, metadata }) =>
              outcome.status === "validation_error" &&
              metadata.app === "default" &&
              metadata.tags?.env === "test",
          )
          .map(({ id }) => id),
      );
      expect(narrower.length).toBeGreaterThan(0);
    });

    test("accepts what real clients send: nulls, no tags, limits and offsets, ids as integers or strings", async () => {
      const nulls = {
        app: null,
        evaluator_id: null,
        profile_name: null,
        pass: null,
        score_raw_min: null,
        after_datetime: null,
        before_id: null,
        status: null,
        order: null,
        explain_strategy: null,
      };
      const all = await search({ ...nulls, tags: {}, limit: 1000, offset: 0, something: null });
      expect(all.length).toBe(stored.filter(isSuccess).length);
      const between = { after_id: String(stored[10]?.id), before_id: stored[14]?.id, order: "created_at" };
      expect((await search(between)).map(({ id }) => Number(id))).toEqual(
        stored
          .slice(11, 14)
          .filter(isSuccess)
          .map(({ id }) => id),
      );
      expect(await search({})).toHaveLength(50);
    });

    test("accepts ids longer than any result's", async () => {
      const newest = await search({ limit: 3 });
      for (const long of ["9007199254740993", "9".repeat(400), "00000000000000000000000000000001"]) {
        const beyond = Number(long) > 1;
        expect(await search({ after_id: long, limit: 3 })).toEqual(beyond ? [] : newest);
        const filter = `{"before_id":${beyond ? long : `"${long}"`},"limit":3}`;
        const response = await presage.call("POST", `${resultsPath}/search`, filter);
        expect(await response.json()).toEqual({ results: beyond ? newest : [] });
      }
      for (const id of ["9007199254740992", "9".repeat(400)]) {
        expect((await presage.call("GET", `${resultsPath}/${id}`)).status).toBe(404);
        const correction = await presage.call("POST", `${resultsPath}/${id}/correction`, { pass: true });
        expect(correction.status).toBe(404);
      }
    });

    test.each(["criterion_profile_name", "evaluator_profile_name"])(
      "accepts the old name %s",
      async (name) => {
        const response = await post("/search", { [name]: "two", limit: 1000 });
        expect(response.headers.get("deprecation")).toMatch(/^@\d+$/);
        const { results } = (await response.json()) as { results: unknown[] };
        expect(results).toHaveLength(
          stored.filter((result) => isSuccess(result) && result.profile?.name === "two").length,
        );
        const today = await post("/search", { profile_name: "two" });
        expect(today.headers.has("deprecation")).toBe(false);
      },
    );

    test("shows each result as its own route does, under new and old names", async () => {
      const [found] = await search({ tags: { env: "test" }, limit: 1 });
      const alone = await presage.call("GET", `${resultsPath}/${found?.id}`);
      expect(await alone.json()).toEqual({
        ...{ evaluation_result: found, evaluation_results: [found] },
        labels: [],
      });
      expect(found).toMatchObject({
        external: false,
        correction: null,
        input: "in",
        evaluated_model_input: "in",
      });
    });

    test("reports every issue of the request", async () => {
      const issues = await issuesOf(
        await post("/search", {
          app: 1,
          status: "pending",
          explain_strategy: "sometimes",
          tags: { env: 1, nul: "a\0b" },
          pass: "yes",
          score_raw_min: "low",
          after_id: "x",
          after_datetime: "yesterday",
          order: "score",
          limit: 1001,
        }),
      );
      expect(locationsOf(issues).map(({ loc }) => loc.join("."))).toEqual([
        "body.app",
        "body.explain_strategy",
        "body.status",
        "body.after_datetime",
        "body.tags.env",
        "body.tags.nul",
        "body.pass",
        "body.score_raw_min",
        "body.after_id",
        "body.order",
        "body.limit",
      ]);
    });

    test("by more tags than a result can have is rejected, and by extreme bounds finds nothing", async () => {
      const tags = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`tag ${index}`, "value"]));
      expect(locationsOf(await issuesOf(await post("/search", { tags })))).toEqual([
        { type: "value_error", loc: ["body", "tags"] },
      ]);
      const { "tag 50": _, ...fewer } = tags;
      expect(await search({ tags: fewer, app: "shop", score_raw_min: 0.0123, pass: true })).toEqual([]);
      expect(await search({ score_raw_min: 1e300 })).toEqual([]);
      expect(await search({ score_raw_max: -1e300, pass: false })).toEqual([]);
      expect(await search({ after_id: Number.MAX_SAFE_INTEGER })).toEqual([]);
      expect(await search({ after_id: "999999999999999" })).toEqual([]);
      expect(await search({ before_id: 0 })).toEqual([]);
      expect(await search({ after_datetime: "9999-12-31T23:59:59.999999Z" })).toEqual([]);
      expect(await search({ before_datetime: "0001-01-01T00:00:00-23:59" })).toEqual([]);
    });

    test("shows nothing to another account", async () => {
      const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
      for (const filter of [
        {},
        { app: "shop" },
        { tags: { env: "prod" } },
        { score_raw_min: 0 },
        { status: "failed" },
      ]) {
        const response = await post("/search", filter, stranger);
        expect(await response.json()).toEqual({ results: [] });
      }
      const one = await presage.call("GET", `${resultsPath}/${stored[0]?.id}`, undefined, stranger);
      expect(one.status).toBe(404);
    });
  });

  describe("One result", () => {
    test("that is unknown is 404, and an invalid id is rejected", async () => {
      expect((await presage.call("GET", `${resultsPath}/999999999`)).status).toBe(404);
      const issues = await issuesOf(await presage.call("GET", `${resultsPath}/abc`));
      expect(locationsOf(issues)).toEqual([{ type: "int_parsing", loc: ["path", "id"] }]);
    });
  });
});
