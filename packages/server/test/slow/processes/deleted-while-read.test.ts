import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RootOperationNode } from "kysely";
import type { WantedRevision } from "../../../src/datasets/datasets.ts";
import {
  exportSamples,
  listTrajectories,
  pageOfSamples,
  readByTrajectory,
  readTrajectory,
} from "../../../src/datasets/samples.ts";
import { createClientCounts } from "../../../src/runs/client/client-counts.ts";
import { listComparedSamples } from "../../../src/runs/compare/compare-route.ts";
import { compareRuns } from "../../../src/runs/compare/compare-runs.ts";
import { reportRun } from "../../../src/runs/report/report-run.ts";
import { listRunSamples, readPredictions, withDataset } from "../../../src/runs/run-samples.ts";
import { datasetOrder } from "../../../src/runs/run-samples-store.ts";
import { findRun } from "../../../src/runs/runs.ts";
import { eventually } from "../../support/eventually.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { datasetClient } from "../../support/resources/datasets.ts";
import { runClient } from "../../support/resources/runs.ts";
import { onAnyDatabase } from "../../support/store/databases.ts";
import { openStore } from "../../support/store/open-store.ts";
import { anyRequester } from "../../support/store/requester.ts";

/** Each text is long enough to be its own piece. */
const samples = [0, 1].map((step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: "s".repeat(600_000), action: "wait" },
  next_state: "s".repeat(600_000),
}));

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end } = runClient(presage);
  let store: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    store = await openStore(presage.databaseUrl);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function newDataset() {
    const id = await datasets.create();
    await datasets.uploadNew(id, samples);
    return { id, number: undefined };
  }

  async function newRun(dataset_id: string) {
    const { id } = await create({ dataset_id, target: { baseline: "no-change" } });
    await end(id);
    const requester = anyRequester(store.owner.account_id);
    const services = { store, clientCounts: createClientCounts() };
    return { services, requester, run: await findRun(services, requester, id) };
  }

  async function remove(path: string) {
    expect((await presage.call("DELETE", path)).status).toBe(204);
  }

  /** Deletes it, and waits until none of its rows is left. */
  async function removeDataset(id: string) {
    await remove(`/v1/datasets/${id}`);
    const left = () =>
      store.database
        .selectFrom("dataset_revisions")
        .select("id")
        .where("dataset_id", "=", id)
        .executeTakeFirst();
    expect(await eventually(left, (row) => row === undefined)).toBeUndefined();
  }

  test("an export, a page and a trajectory of a dataset that is deleted meanwhile break off, and do not just end", async () => {
    const requester = anyRequester(store.owner.account_id);
    const readers: ((wanted: WantedRevision) => Promise<AsyncGenerator<unknown, void>>)[] = [
      (wanted: WantedRevision) => exportSamples({ store }, requester, wanted),
      async (wanted: WantedRevision) => readByTrajectory({ store }, requester, wanted),
      async (wanted: WantedRevision) =>
        (await pageOfSamples({ store }, requester, wanted, { limit: 10, after: 0 })).samples.read(),
      async (wanted: WantedRevision) => {
        const trajectory = { ...wanted, trajectoryId: "t" };
        const page = { limit: undefined, after: -1 };
        return (await readTrajectory({ store }, requester, trajectory, page)).samples.read();
      },
    ];
    for (const read of readers) {
      const wanted = await newDataset();
      expect(await Array.fromAsync(await read(wanted))).toHaveLength(2);
      const pieces = await read(wanted);
      expect((await pieces.next()).done).toBe(false);
      await removeDataset(wanted.id);
      await expect(Array.fromAsync(pieces)).rejects.toThrow("There is no such dataset.");
    }
  });

  test("a page of a dataset that is deleted before its rows are read is not the end of the list", async () => {
    const requester = anyRequester(store.owner.account_id);
    const readers = [
      (deleted: typeof store, wanted: WantedRevision) =>
        pageOfSamples({ store: deleted }, requester, wanted, { limit: 10, after: 0 }),
      (deleted: typeof store, wanted: WantedRevision) =>
        readTrajectory(
          { store: deleted },
          requester,
          { ...wanted, trajectoryId: "t" },
          { limit: 10, after: 0 },
        ),
      (deleted: typeof store, wanted: WantedRevision) =>
        listTrajectories({ store: deleted }, requester, wanted, {
          contains: undefined,
          order: "trajectory_id",
          limit: 10,
          after: undefined,
        }),
    ];
    for (const read of readers) {
      const wanted = await newDataset();
      let queries = 0;
      // The request finds the dataset and its revision, and then the dataset is deleted.
      const deleting = {
        transformQuery: ({ node }: { node: RootOperationNode }) => node,
        async transformResult<Result>({ result }: { result: Result }): Promise<Result> {
          queries += 1;
          if (queries === 2) await removeDataset(wanted.id);
          return result;
        },
      };
      const deleted = { ...store, briefReader: () => store.briefReader(requester).withPlugin(deleting) };
      await expect(read(deleted, wanted)).rejects.toThrow("There is no such dataset.");
      expect(queries).toBeGreaterThan(2);
    }
  });

  test("a run that is deleted meanwhile has no export, no report and no comparison of what was left", async () => {
    const dataset = await newDataset();
    const { run: reference } = await newRun(dataset.id);
    const { services, requester, run } = await newRun(dataset.id);
    const lines = readPredictions(services, requester, withDataset(run));
    await remove(`/v1/runs/${run.id}`);
    const gone = "There is no such run.";
    await expect(Array.fromAsync(lines)).rejects.toThrow(gone);
    const page = { ...datasetOrder, limit: 10, after: undefined };
    await expect(listRunSamples(services, requester, run, {}, page, undefined)).rejects.toThrow(gone);
    await expect(reportRun(services, requester, run, undefined)).rejects.toThrow(gone);
    await expect(compareRuns(services, requester, [reference, run])).rejects.toThrow(gone);
    const differing = {
      reference,
      candidate: run,
      direction: "worse",
      evaluator: "exact-match",
      profileName: undefined,
    } as const;
    const compared = listComparedSamples({ store }, requester, differing, page);
    await expect(compared).rejects.toThrow(gone);
    await expect(compareRuns(services, requester, [run, reference])).rejects.toThrow(gone);
  });
});
