import { beforeAll, expect, test } from "bun:test";
import { ComparedSampleListResponse, Comparison } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import {
  evaluatorNamed,
  type StoredRevision,
  type StoredRun,
  type StoredSample,
  storeRevision,
  storeRun,
} from "../support/store/store-run.ts";

const samples: StoredSample[] = ["a", "b", "c"].flatMap((trajectory) =>
  [0, 1].map((step) => ({ trajectory, step, changes: step })),
);
const scored = (score: number) => [{ verdicts: [{ pass: score >= 0.5, score }] }];
const failed = [{ failed: "timeout" as const }];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let revision: StoredRevision;

  beforeAll(async () => {
    await using opened = await openStore(presage.databaseUrl);
    revision = await storeRevision(opened.database, opened.owner.account_id, samples);
  });

  async function store(run: StoredRun, of = revision): Promise<string> {
    await using opened = await openStore(presage.databaseUrl);
    return await storeRun(opened.database, opened.owner.account_id, of, run);
  }

  async function compare(...ids: string[]): Promise<Comparison> {
    const response = await presage.call("GET", `/v1/comparisons?runs=${ids.join(",")}`);
    expect(response.status).toBe(200);
    return Comparison.parse(await response.json());
  }

  async function list(query: string): Promise<ComparedSampleListResponse> {
    const response = await presage.call("GET", `/v1/comparisons/samples?${query}`);
    expect(response.status).toBe(200);
    return ComparedSampleListResponse.parse(await response.json());
  }

  test("Runs are compared on the samples that all have a verdict for", async () => {
    const reference = await store({ predictions: [1, 0.5, 1, 1, 0, 0].map(scored) });
    const other = await store({
      predictions: [scored(1), scored(1), scored(0.25), failed, scored(0.5), [undefined]],
      status: "cancelled",
    });
    const { runs, evaluators, seed, provenance } = await compare(reference, other);
    expect(provenance).toEqual({ statistics: 2 });
    expect(runs.map(({ id, left_out }) => [id, left_out])).toEqual([
      [reference, 0],
      [other, 0],
    ]);
    expect(seed).toBe(1);
    expect(evaluators).toHaveLength(1);
    const [{ reference: first, candidates } = { reference: undefined, candidates: [] }] = evaluators;
    expect(first).toEqual({
      run_id: reference,
      mean: 2.5 / 4,
      pass_rate: 0.75,
      count: 4,
      mean_failures_as_zero: 3.5 / 5,
    });
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      run_id: other,
      mean: 2.75 / 4,
      pass_rate: 0.75,
      count: 4,
      trajectories: 3,
      difference: 0.0625,
      wins: 2,
      losses: 1,
      ties: 1,
      only_in_reference: 2,
      only_in_candidate: 0,
      mean_failures_as_zero: 2.75 / 5,
      difference_failures_as_zero: expect.closeTo(-0.15, 12),
      measure: "score",
      interval: null,
      outcome: "undecided",
      why: "few_trajectories",
      survives_one_failure: null,
      note: "3 trajectories are too few to tell a difference from chance: at least 6 are needed.",
    });
    expect(candidates[0]?.p_value).toBeGreaterThan(0);
    expect(candidates[0]?.p_adjusted).toBeNull();
    const { strata } = candidates[0] ?? {};
    expect(strata?.exploratory).toBe(true);
    expect(strata?.step.map(({ key, count, difference }) => [key, count, difference])).toEqual([
      [0, 3, (0 - 0.75 + 0.5) / 3],
      [1, 1, 0.5],
    ]);
    expect(strata?.changed.map(({ key, count }) => [key, count])).toEqual([
      ["unchanged", 3],
      ["changed", 1],
    ]);
  });

  test("Holm's correction is over the evaluators and runs that can be tested, and other revisions of a profile do not compare", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const ofSix = await storeRevision(
      opened.database,
      opened.owner.account_id,
      [..."abcdef"].map((trajectory) => ({ trajectory, step: 0 })),
    );
    const evaluators = [evaluatorNamed("exact-match"), evaluatorNamed("contains")];
    const both = (...scores: (number | undefined)[]) => [
      { verdicts: scores.map((one) => (one === undefined ? one : { pass: one >= 0.5, score: one })) },
    ];
    const run = (scores: [number, number?][], given: Partial<StoredRun> = {}) =>
      store({ evaluators, predictions: scores.map((of) => both(...of)), ...given }, ofSix);
    const reference = await run([
      [1, 1],
      [1, 0],
      [1, 1],
      [0, 1],
      [1, 0],
      [0, 0],
    ]);
    const second = await run([[0, 1], [0, 0], [0, 1], [0, 1], [0.5, 1], [0]]);
    const third = await run(
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 0],
        [1, 1],
        [1, 1],
      ],
      { evaluators: [evaluatorNamed("exact-match"), evaluatorNamed("contains", 2)] },
    );
    const comparison = await compare(reference, second, third);
    const found = comparison.evaluators.flatMap(({ evaluator, candidates }) =>
      candidates.map(({ run_id, p_value, p_adjusted }) => ({ evaluator, run_id, p_value, p_adjusted })),
    );
    expect(found.map(({ evaluator, run_id }) => [evaluator, run_id])).toEqual([
      ["exact-match", second],
      ["exact-match", third],
      ["contains", second],
    ]);
    expect(found[2]?.p_adjusted).toBeNull();
    const ascending = found.slice(0, 2).toSorted((a, b) => (a.p_value ?? 0) - (b.p_value ?? 0));
    expect(ascending[0]?.p_adjusted).toBeCloseTo(2 * (ascending[0]?.p_value ?? 0), 12);
    expect(
      comparison.evaluators_left_out.map(({ run_id, evaluator, profile_revision }) => [
        run_id,
        evaluator,
        profile_revision,
      ]),
    ).toEqual([[third, "contains", 2]]);
  });

  test("Runs on different revisions are compared on equal samples, whatever their place", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const other = await storeRevision(opened.database, opened.owner.account_id, [
      { trajectory: "new", step: 0 },
      ...samples.toReversed().filter(({ trajectory }) => trajectory !== "c"),
      { trajectory: "c", step: 0, text: "changed" },
    ]);
    const reference = await store({ predictions: [1, 1, 1, 1, 1, 1].map(scored) });
    const candidate = await store({ predictions: [0, 1, 0.5, 0.25, 0, 0].map(scored) }, other);
    const { runs, evaluators } = await compare(reference, candidate);
    expect(runs.map(({ left_out }) => left_out)).toEqual([2, 2]);
    expect(evaluators[0]?.candidates[0]).toMatchObject({
      count: 4,
      mean: 1.75 / 4,
      difference: -2.25 / 4,
      losses: 3,
      ties: 1,
      only_in_reference: 2,
      only_in_candidate: 2,
    });
    const { data } = await list(`runs=${reference},${candidate}&evaluator=exact-match&direction=worse`);
    expect(
      data.map(({ dataset_sample_id, difference, candidate, reference }) => [
        dataset_sample_id,
        difference,
        reference.position,
        candidate.position,
      ]),
    ).toEqual([
      ["a/0", -1, 1, 5],
      ["a/1", -0.75, 2, 4],
      ["b/0", -0.5, 3, 3],
    ]);
  });

  test("Samples that got worse or better are listed in pages, the most different first", async () => {
    const repeated = (...scores: number[]) => scores.flatMap(scored);
    const reference = await store({
      repeats: 2,
      predictions: [
        [1, 1],
        [1, 0],
        [0.1, 0.2],
        [1, 1],
        [0.7, 0.7],
        [0, 0],
      ].map((pair) => repeated(...pair)),
    });
    const candidate = await store({ predictions: [0, 0.2, 0, 0.7, 0.7, 1].map(scored) });
    const query = `runs=${reference},${candidate}&evaluator=exact-match`;
    const all = await list(`${query}&direction=worse`);
    expect(all.next).toBeNull();
    expect(all.data.map(({ dataset_sample_id, difference }) => [dataset_sample_id, difference])).toEqual([
      ["a/0", -1],
      ["a/1", -0.3],
      ["b/1", expect.closeTo(-0.3, 12)],
      ["b/0", expect.closeTo(-0.15, 12)],
    ]);
    expect(all.data[1]?.reference).toEqual({
      position: 2,
      score: 0.5,
      pass_rate: 0.5,
      evaluation_result_id: null,
    });
    const pages: string[] = [];
    for (let after = ""; ; ) {
      const page = await list(`${query}&direction=worse&limit=1${after}`);
      pages.push(...page.data.map(({ dataset_sample_id }) => dataset_sample_id));
      if (page.next === null) break;
      after = `&after=${page.next}`;
    }
    expect(pages).toEqual(["a/0", "a/1", "b/1", "b/0"]);
    const better = await list(`${query}&direction=better`);
    expect(better.data.map(({ dataset_sample_id }) => dataset_sample_id)).toEqual(["c/1"]);
  });

  test("Verdicts without a score are compared by their pass rates, and six trajectories can decide", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const long = await storeRevision(
      opened.database,
      opened.owner.account_id,
      Array.from({ length: 24 }, (_, index) => ({
        trajectory: `t${index % 8}`,
        step: Math.floor(index / 8),
      })),
    );
    const of = (passes: (index: number) => boolean) =>
      store(
        {
          predictions: long.samples.map((_, index) => [{ verdicts: [{ pass: passes(index), score: null }] }]),
        },
        long,
      );
    const reference = await of((index) => index < 4);
    const candidate = await of((index) => index < 18);
    const { evaluators } = await compare(reference, candidate);
    expect(evaluators[0]?.reference).toMatchObject({ mean: null, pass_rate: 4 / 24, count: 24 });
    expect(evaluators[0]?.candidates[0]).toMatchObject({
      measure: "pass_rate",
      mean: null,
      difference: 14 / 24,
      p_value: 2 ** -7,
      p_permutation: 2 ** -7,
      outcome: "better",
      why: null,
      survives_one_failure: true,
      interval: { level: 0.95, lower: expect.any(Number), upper: expect.any(Number) },
    });
    // A judge that grades some verdicts must not hide those that it does not.
    const partly = await store(
      {
        predictions: long.samples.map((_, at) => [
          { verdicts: [{ pass: at === 0, score: at === 0 ? 1 : null }] },
        ]),
      },
      long,
    );
    expect((await compare(candidate, partly)).evaluators[0]?.candidates[0]).toMatchObject({
      ...{ measure: "pass_rate", count: 24, difference: -17 / 24, outcome: "worse" },
    });
    const graded = await store({ predictions: long.samples.map(() => scored(1)) }, long);
    const mixed = (await compare(reference, candidate, graded)).evaluators[0]?.candidates;
    expect(mixed?.map(({ measure, count, difference }) => [measure, count, difference])).toEqual([
      ["pass_rate", 24, 14 / 24],
      ["pass_rate", 24, 20 / 24],
    ]);
    const { data } = await list(`runs=${reference},${candidate}&evaluator=exact-match&direction=better`);
    expect(data).toHaveLength(14);
    expect(data[0]).toMatchObject({ difference: 1, candidate: { score: null, pass_rate: 1 } });
  });

  test("Wrong lists of runs are refused, and runs of others are not found", async () => {
    const id = await store({ predictions: [1, 1, 1, 1, 1, 1].map(scored) });
    const eleven = Array.from({ length: 11 }, () => Bun.randomUUIDv7()).join(",");
    for (const runs of [id, "", `${id},${id}`, `${id},`, eleven]) {
      const issues = await issuesOf(await presage.call("GET", `/v1/comparisons?runs=${runs}`));
      expect(locationsOf(issues)).toEqual([{ type: "value_error", loc: ["query", "runs"] }]);
    }
    const three = `runs=${id},${Bun.randomUUIDv7()},${Bun.randomUUIDv7()}`;
    const rest = "evaluator=exact-match&direction=worse";
    expect((await presage.call("GET", `/v1/comparisons/samples?${three}&${rest}`)).status).toBe(422);
    const unknown = `runs=${id},${Bun.randomUUIDv7()}`;
    expect((await presage.call("GET", `/v1/comparisons?${unknown}`)).status).toBe(404);
    expect((await presage.call("GET", `/v1/comparisons/samples?${unknown}&${rest}`)).status).toBe(404);
    const own = `runs=${id},${await store({ predictions: [1, 1, 1, 1, 1, 1].map(scored) })}`;
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    for (const path of [`/v1/comparisons?${own}`, `/v1/comparisons/samples?${own}&${rest}`]) {
      expect((await presage.call("GET", path)).status).toBe(200);
      expect((await presage.call("GET", path, undefined, stranger)).status).toBe(404);
    }
    const nothing = `/v1/comparisons/samples?${own}&evaluator=nothing&direction=worse`;
    expect((await presage.call("GET", nothing)).status).toBe(404);
  });
});
