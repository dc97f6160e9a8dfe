import { beforeAll, expect, test } from "bun:test";
import { EpisodeStart, EvaluationResultDeletion } from "@presage/contract";
import { deleteEpisodeRows } from "../../src/environments/episodes/episodes-store.ts";
import { endLease, takeLease } from "../../src/platform/storage/leases.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { deleteResultRows } from "../../src/results/delete/deleted-results-store.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { errorBody } from "../support/presage/error-body.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { connectTo, countLockWaits } from "../support/store/postgres.ts";
import { storeResults } from "../support/store/store-results.ts";
import { storeRun } from "../support/store/store-run.ts";
import { expectSoundRollups } from "./expect-sound-rollups.ts";
import { resultAt } from "./many-results.ts";

const path = "/v1/evaluation-results";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let stranger: Record<string, string>;
  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  const remove = (query: string, headers?: Record<string, string>) =>
    presage.call("DELETE", `${path}?${query}`, undefined, headers);
  const finished = (id: string) =>
    eventually(
      async () =>
        EvaluationResultDeletion.parse(
          await (await presage.call("GET", `/v1/evaluation-result-deletions/${id}`)).json(),
        ),
      ({ status }) => status === "finished",
    );

  async function storeMany(app: string, count: number): Promise<number[]> {
    await using opened = await openStore(presage.databaseUrl);
    const fields = Array.from({ length: count }, (_, index) => {
      const { metadata, ...rest } = resultAt(index);
      return { ...rest, metadata: { ...metadata, app } };
    });
    return (await storeResults(opened.database, opened.owner.account_id, fields)).map(({ id }) => id);
  }

  test("Results of a filter are counted first, then deleted in the background, and every rollup equals a recount", async () => {
    await storeMany("deleted", 120);
    await storeMany("other", 40);
    const counted = await remove("app=deleted&pass=true&dry_run=true");
    expect(counted.status).toBe(200);
    const { count, kept } = (await counted.json()) as Record<string, number>;
    expect([count, kept]).toEqual([expect.any(Number), 0]);
    expect(count).toBeGreaterThan(20);
    expect((await remove("app=deleted&pass=true")).status).toBe(422);
    // A process of the previous version would ignore the filter and delete more.
    expect((await remove("app=deleted&has_run=false&dry_run=true")).status).toBe(422);
    const wrong = await remove(`app=deleted&pass=true&expected_count=${(count ?? 0) + 1}`);
    expect(wrong.status).toBe(409);
    expect(await errorBody(wrong)).toMatchObject({ detail: expect.stringContaining(`${count} results`) });

    const started = await remove(`app=deleted&pass=true&expected_count=${count}`);
    expect(started.status).toBe(202);
    const deletion = EvaluationResultDeletion.parse(await started.json());
    expect(deletion).toMatchObject({ count, finished_at: null });
    // Stored later: it stays.
    await storeMany("deleted", 2);
    expect(await finished(deletion.id)).toMatchObject({ count, deleted: count });
    const search = await presage.call("POST", `${path}/search`, { app: "deleted", pass: true });
    expect(((await search.json()) as { results: unknown[] }).results).toHaveLength(1);
    await using opened = await openStore(presage.databaseUrl);
    await expectSoundRollups(presage, opened.database);
  });

  test("One result is deleted with what is stored about it, once", async () => {
    const [id = 0] = await storeMany("single", 2);
    expect((await presage.call("DELETE", `${path}/${id}`)).status).toBe(204);
    expect((await presage.call("GET", `${path}/${id}`)).status).toBe(404);
    expect((await presage.call("DELETE", `${path}/${id}`)).status).toBe(404);
    await using opened = await openStore(presage.databaseUrl);
    await expectSoundRollups(presage, opened.database);
  });

  test("After its last imported result, an alias means Presage's evaluator again, and the app is not listed", async () => {
    const { importAll, search } = evaluationResultsClient(() => presage);
    const texts = { evaluated_model_output: "x", evaluated_model_gold_answer: "x", app: "kept" };
    await evaluationClient(() => presage).evaluate({ evaluators: [{ evaluator: "exact-match" }], ...texts });
    const [id] = await importAll([{ evaluator_id: "exact-match", pass: true, app: "emptied" }]);
    const appsOf = async () => (await search({ evaluator_id: "exact-match" })).map(({ app }) => app).join();
    const listed = async () => await (await presage.call("GET", "/v1/apps")).text();
    expect([await appsOf(), await listed()]).toEqual(["emptied", expect.stringContaining("emptied")]);
    expect((await presage.call("DELETE", `${path}/${id}`)).status).toBe(204);
    await expectEventually(appsOf, "kept");
    expect(await listed()).not.toContain("emptied");
  });

  test("What is corrected after the count stays, also if it matches by then", async () => {
    const { correct } = evaluationResultsClient(() => presage);
    await using opened = await openStore(presage.databaseUrl);
    const stored = await storeResults(
      opened.database,
      opened.owner.account_id,
      [false, true, true].map((pass) => ({
        metadata: { app: "reviewed" },
        outcome: { status: "success" as const, score: Number(pass), pass },
      })),
    );
    const [failed = 0, before = 0, after = 0] = stored.map(({ id }) => id);
    await correct(before, { pass: false });
    // The deletion has to wait for this lease.
    const lease = { name: "result deletions", holder: "another process", forMs: 60_000 };
    await eventually(() => takeLease(opened.database, lease), Boolean);
    const started = await remove("app=reviewed&pass=false&expected_count=2");
    const { id } = EvaluationResultDeletion.parse(await started.json());
    await correct(after, { pass: false });
    await endLease(opened.database, lease);
    expect(await finished(id)).toMatchObject({ count: 2, deleted: 2 });
    for (const [result, status] of [
      [failed, 404],
      [before, 404],
      [after, 200],
    ] as const)
      expect((await presage.call("GET", `${path}/${result}`)).status).toBe(status);
  });

  test("Of two simultaneous deletions of a result or an episode, one is answered with not found", async () => {
    const [result = 0] = await storeMany("twice", 1);
    const played = await presage.call("POST", "/v1/episodes", { environment: "sandbox", index: 0 });
    const { episode_id: episode } = EpisodeStart.parse(await played.json());
    const kinds = [
      {
        where: `${path}/${result}`,
        deleteIt: (transaction: Database) => deleteResultRows(transaction, [result]),
      },
      {
        where: `/v1/episodes/${episode}`,
        deleteIt: (transaction: Database) => deleteEpisodeRows(transaction, [episode]),
      },
    ];
    await using opened = await openStore(presage.databaseUrl);
    const statusOf = async (where: string) => (await presage.call("DELETE", where)).status;
    for (const { where, deleteIt } of kinds) {
      if (database.name === "SQLite") {
        const statuses = await Promise.all([statusOf(where), statusOf(where)]);
        expect(statuses.sort()).toEqual([204, 404]);
        continue;
      }
      const observer = await connectTo(presage.databaseUrl);
      const second = await opened.database.transaction().execute(async (transaction) => {
        await deleteIt(transaction);
        const status = statusOf(where);
        await expectEventually(() => countLockWaits(observer), 1);
        return { status };
      });
      expect(await second.status).toBe(404);
      await observer.end();
    }
  });

  test("Results of a run stay until the run is deleted", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const run = await storeRun(opened.database, opened.owner.account_id, undefined, { predictions: [] });
    const [{ id } = { id: 0 }] = await storeResults(opened.database, opened.owner.account_id, [
      { metadata: { app: "of a run", runId: run } },
    ]);
    const refused = await presage.call("DELETE", `${path}/${id}`);
    expect(refused.status).toBe(409);
    const counted = await remove("app=of+a+run&dry_run=true");
    expect(await counted.json()).toEqual({ count: 0, kept: 1 });
    expect((await presage.call("DELETE", `/v1/runs/${run}`)).status).toBe(204);
    expect((await presage.call("DELETE", `${path}/${id}`)).status).toBe(204);
  });

  test("Nobody deletes, counts or follows another account's", async () => {
    const [id] = await storeMany("mine", 3);
    expect((await presage.call("DELETE", `${path}/${id}`, undefined, stranger)).status).toBe(404);
    const counted = await remove("app=mine&dry_run=true", stranger);
    expect(await counted.json()).toEqual({ count: 0, kept: 0 });
    const started = await remove("expected_count=0", stranger);
    const { id: theirs } = EvaluationResultDeletion.parse(await started.json());
    expect((await presage.call("GET", `/v1/evaluation-result-deletions/${theirs}`)).status).toBe(404);
    await eventually(
      async () =>
        (await presage.call("GET", `/v1/evaluation-result-deletions/${theirs}`, undefined, stranger)).json(),
      (deletion) => EvaluationResultDeletion.parse(deletion).status === "finished",
    );
    expect((await presage.call("GET", `${path}/${id}`)).status).toBe(200);
  });
});
