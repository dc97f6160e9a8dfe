import { beforeAll, expect, test } from "bun:test";
import {
  Dataset,
  type DatasetSample,
  type RealityCheckDetail,
  RealityEpisodeListResponse,
  Run,
  RunReport,
} from "@presage/contract";
import { sql } from "kysely";
import { isPostgres } from "../../src/platform/storage/store.ts";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { checkRecordings } from "../support/reality/check-recordings.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let check: RealityCheckDetail;
  let made = 0;

  async function send(method: string, path: string, body?: unknown): Promise<[number, unknown]> {
    const response = await presage.call(method, path, body);
    return [response.status, JSON.parse((await response.text()) || "null")];
  }

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const [status, answer] = await send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  }

  beforeAll(async () => {
    check = await checkRecordings(call, "rooms");
  });

  const pairsOnly = async () => {
    const pairs = [{ task_id: "a", simulated: true, real: false }];
    return (await call("POST", "/v1/reality-checks", { name: "known", pairs })) as { id: string };
  };

  async function revise(body: object): Promise<[number, DatasetSample[]]> {
    made += 1;
    const { id } = Dataset.parse(await call("POST", "/v1/datasets", { name: `real ${made}` }));
    const [status, answer] = await send("POST", `/v1/datasets/${id}/revisions?from=reality-checks`, body);
    if (status >= 300) return [status, answer as DatasetSample[]];
    const { data } = (await call("GET", `/v1/datasets/${id}/samples`)) as { data: DatasetSample[] };
    return [status, data];
  }

  async function listEpisodes() {
    const shown = await call("GET", `/v1/reality-checks/${check.id}/episodes`);
    return RealityEpisodeListResponse.parse(shown).data;
  }

  test("what really happened becomes samples, up to the divergence or whole", async () => {
    const [status, samples] = await revise({ ids: [check.id, check.id] });
    expect([status, samples.length]).toEqual([201, 20]);
    const flickering = (await listEpisodes()).find(({ diverged_at }) => diverged_at === 1);
    const id = flickering?.episode_id ?? "";
    const found = samples.filter(({ trajectory_id }) => trajectory_id === id);
    const tags = {
      ...{ environment: "rooms", environment_revision: "1", split: "test" },
      reality_check: check.id,
    };
    expect(found).toMatchObject([
      {
        step: 0,
        interaction: { action: "activate lantern" },
        next_state: "The lantern flickers.",
        tags: { ...tags, diverged: "false" },
      },
      {
        step: 1,
        context: { task_context: "Open the chest." },
        interaction: { state: "The lantern flickers.", action: "open chest" },
        next_state: "The chest is now open.",
        reward: 1,
        tags: { ...tags, diverged: "true" },
      },
    ]);
    expect(found[0]?.tags).not.toHaveProperty("outcome");
    const [, cut] = await revise({ ids: [check.id], until_divergence: true });
    expect([cut.length, cut.filter(({ tags }) => tags?.diverged === "true")]).toEqual([19, []]);
  });

  test("pairs have no real steps, and an unknown check is none", async () => {
    const { id } = await pairsOnly();
    const [status, answer] = await revise({ ids: [check.id, id] });
    expect([status, answer as unknown]).toMatchObject([422, { detail: [{ loc: ["body", "ids", 1] }] }]);
    expect((await revise({ ids: [crypto.randomUUID()] }))[0]).toBe(404);
    expect((await send("POST", `/v1/reality-checks/${id}/run`, {}))[0]).toBe(409);
    const { data } = (await call("GET", "/v1/datasets")) as { data: Dataset[] };
    expect(data.filter(({ name }) => name.startsWith("known"))).toEqual([]);
  });

  async function reportOf(id: string): Promise<RunReport> {
    const isDone = ({ status }: Run) => status === "finished";
    await eventually(async () => Run.parse(await call("GET", `/v1/runs/${id}`)), isDone);
    return RunReport.parse(await call("GET", `/v1/runs/${id}/report`));
  }

  test("a check is a run: its report says which share of the observations is equal", async () => {
    const path = `/v1/reality-checks/${check.id}/run`;
    // Several requests at the same time make one run.
    const asked = await Promise.all([1, 2, 3].map(() => send("POST", path, {})));
    expect(asked.map(([status]) => status).sort()).toEqual([200, 200, 201]);
    const [run, ...others] = asked.map(([, answer]) => Run.parse(answer));
    expect(others.map(({ id }) => id)).toEqual([run?.id ?? "", run?.id ?? ""]);
    const report = await reportOf(run?.id ?? "");
    const episodes = await listEpisodes();
    const steps = episodes.reduce((sum, one) => sum + (one.diverged_at ?? one.steps ?? 0), 0);
    const wrong = episodes.filter(({ diverged_at }) => diverged_at !== null).length;
    expect([steps, wrong]).toEqual([19, 4]);
    expect(report.evaluators[0]?.pass_rate).toBeCloseTo((steps - wrong) / steps, 10);
    expect(run).toMatchObject({ name: check.name, target: { predictions: "imported" } });
    const exported = await presage.call(
      "GET",
      `/v1/runs/${run?.id}/export?format=preference&chosen=reference`,
    );
    const pairs = (await exported.text()).trim().split("\n");
    const told = pairs.map((line) => {
      const { chosen, rejected, margin } = JSON.parse(line);
      return `${chosen[0].content} ${rejected[0].content} ${margin}`;
    });
    const locked = "It is locked. The chest is now open. 1";
    const lit = "The lantern flickers. The lantern is now activated. 1";
    expect(told.sort()).toEqual([locked, locked, locked, lit]);

    // All steps are another run.
    const [status, whole] = await send("POST", path, { after_divergence: true });
    expect(status).toBe(201);
    expect((await reportOf(Run.parse(whole).id)).evaluators[0]?.pass_rate).toBeCloseTo(16 / 20, 10);

    // A deleted run is created again, on the same dataset.
    await presage.call("DELETE", `/v1/runs/${run?.id}`);
    const [again, anew] = await send("POST", path, { evaluators: [{ evaluator: "token-f1" }] });
    expect([again, Run.parse(anew).dataset_id]).toEqual([201, run?.dataset_id ?? null]);
    expect(Run.parse(anew).id).not.toBe(run?.id ?? "");
  });

  test("what fails leaves nothing, and a check that has not ended has no run", async () => {
    const count = async () => ((await call("GET", "/v1/datasets")) as { data: Dataset[] }).data.length;
    const other = await checkRecordings(call, "more-rooms");
    const before = await count();
    const path = `/v1/reality-checks/${other.id}/run`;
    expect((await send("POST", path, { evaluators: [{ evaluator: "no-such" }] }))[0]).toBe(422);
    expect((await send("POST", path, { unheard_of: 1 }))[0]).toBe(422);
    expect(await count()).toBe(before);

    await using store = await openStore(presage.databaseUrl);
    const ofCheck = store.database.updateTable("reality_checks").where("id", "=", other.id);
    await ofCheck.set({ status: "paused" }).execute();
    expect((await send("POST", path, {}))[0]).toBe(409);
    await ofCheck.set({ status: "completed" }).execute();
    // A process that died left a run without its predictions.
    const left = Run.parse(await call("POST", path, {}));
    await reportOf(left.id);
    await store.database.updateTable("runs").set({ status: "queued" }).where("id", "=", left.id).execute();
    const [status, anew] = await send("POST", path, {});
    expect([status, (await send("GET", `/v1/runs/${left.id}`))[0]]).toEqual([201, 404]);
    const again = Run.parse(anew);
    expect((await reportOf(again.id)).evaluators[0]?.pass_rate).toBeCloseTo(15 / 19, 10);

    // Without one of the episodes, the dataset of the next run needs another revision.
    await presage.call("DELETE", `/v1/runs/${again.id}`);
    const shown = await call("GET", `/v1/reality-checks/${other.id}/episodes`);
    const [episode] = RealityEpisodeListResponse.parse(shown).data;
    await presage.call("DELETE", `/v1/episodes/${episode?.episode_id}`);
    const latest = async () =>
      Dataset.parse(await call("GET", `/v1/datasets/${again.dataset_id}`)).latest_revision?.revision;
    const refuse = isPostgres(store.database)
      ? sql`alter table runs add constraint no_runs check (false) not valid`
      : sql`create trigger no_runs before insert on runs begin select raise(abort, 'no runs'); end`;
    const allow = isPostgres(store.database)
      ? sql`alter table runs drop constraint no_runs`
      : sql`drop trigger no_runs`;
    await refuse.execute(store.database);
    expect((await send("POST", path, {}))[0]).toBe(500);
    expect(await latest()).toBe(1);
    await allow.execute(store.database);
    const [made, third] = await send("POST", path, {});
    expect([made, Run.parse(third).revision, await latest()]).toEqual([201, 2, 2]);
  });

  test("making a run leaves the events of its dataset and of the run", async () => {
    const actions = ["dataset.create", "dataset.add_revision", "run.create", "run.add_predictions"] as const;
    for (const action of actions) {
      const { data } = (await call("GET", `/v1/audit-events?action=${action}`)) as { data: unknown[] };
      expect([action, data.length > 0]).toEqual([action, true]);
    }
  });
});
