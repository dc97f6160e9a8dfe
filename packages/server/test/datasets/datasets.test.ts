import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Dataset, DatasetListResponse, type DatasetSample } from "@presage/contract";
import { sql } from "kysely";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

/** Steps of two trajectories that share their context. */
const samples = ["a", "b"].flatMap((trajectory) =>
  [0, 1, 2].map((step) => ({
    dataset_sample_id: `${trajectory}/${step}`,
    trajectory_id: trajectory,
    step,
    context: { task_context: `The task of ${trajectory}.\0` },
    interaction: { state: `State ${step} «é» 🚪`, action: "go on" },
    next_state: `State ${step + 1}\ud800`,
    reward: step / 2,
    done: step === 2,
    tags: { split: "test" },
  })),
) satisfies DatasetSample[];

const turns = [
  { role: "system", content: "You are a kitchen." },
  { role: "user", content: "open fridge" },
  { role: "assistant", content: "The fridge is open." },
  { role: "user", content: "take milk" },
  { role: "assistant", content: "You hold the milk." },
  { role: "user", content: "say thanks" },
] as const;

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { create, upload, uploadNew, read, exportLines } = datasetClient(presage);
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  /** The number of rows of a dataset's only revision. */
  async function rowCounter(datasetId: string): Promise<() => Promise<number>> {
    await using store = await openStore(presage.databaseUrl);
    const { id } = await store.database
      .selectFrom("dataset_revisions")
      .select("id")
      .where("dataset_id", "=", datasetId)
      .executeTakeFirstOrThrow();
    return async () => {
      await using store = await openStore(presage.databaseUrl);
      const rows = await Promise.all([
        store.database.selectFrom("dataset_revisions").select("id").where("id", "=", id).execute(),
        ...(["dataset_samples", "dataset_payloads", "dataset_parts", "sample_traits"] as const).map((table) =>
          store.database.selectFrom(table).select("revision_id").where("revision_id", "=", id).execute(),
        ),
      ]);
      return rows.flat().length;
    };
  }

  test("uploaded lines can be read as pages, as a trajectory and as an export with the revision's digest", async () => {
    const id = await create();
    const revision = await uploadNew(id, samples);
    expect(revision).toMatchObject({ revision: 1, samples: 6, trajectories: 2 });
    expect((await read(`${id}/samples?limit=4`)).body).toEqual({ data: samples.slice(0, 4), next: "4" });
    expect((await read(`${id}/samples?limit=4&after=4`)).body).toEqual({
      data: samples.slice(4),
      next: null,
    });
    expect((await read(`${id}/trajectories/b`)).body).toEqual({
      samples: samples.slice(3),
      trajectory_id: "b",
      next: null,
    });
    expect((await read(`${id}/trajectories/c`)).status).toBe(404);
    const exported = await exportLines(id);
    expect(exported).toBe(toLines(samples));
    expect(sha256(exported)).toBe(revision.digest);
    expect(Buffer.byteLength(exported)).toBe(revision.bytes);
  });

  test("the same lines are the same revision, however they are written; others are the next one", async () => {
    const id = await create();
    const first = await uploadNew(id, samples);
    const rewritten = samples.map(({ dataset_sample_id: _, tags, trajectory_id, ...rest }) => ({
      tags,
      ...rest,
      dataset_sample_id: null,
      context: { tool_schemas: null, ...rest.context },
      trajectory_id,
    }));
    const again = await upload(id, gzipSync(`\n${toLines(rewritten)}`), {
      headers: { "content-encoding": "gzip" },
    });
    expect([again.status, await again.json()]).toEqual([200, first]);
    const second = await uploadNew(id, samples.slice(1));
    expect(second).toMatchObject({ revision: 2, samples: 5, trajectories: 2 });
    const back = await upload(id, toLines(samples));
    expect([back.status, await back.json()]).toEqual([200, first]);
    expect((await read(`${id}/revisions`)).body).toEqual({ data: [second, first], next: null });
    expect((await read(`${id}/revisions?limit=1`)).body).toEqual({ data: [second], next: "2" });
    expect((await read(`${id}/revisions?limit=1&after=2`)).body).toEqual({ data: [first], next: null });
    expect((await read(id)).body.latest_revision).toEqual(second);
    expect((await read(`${id}/samples?revision=1&limit=1`)).body.data).toEqual(samples.slice(0, 1));
    expect((await read(`${id}/samples?limit=1`)).body.data).toEqual(samples.slice(1, 2));
    expect((await read(`${id}/samples?revision=3`)).status).toBe(404);
    expect(await exportLines(id, "?revision=1")).toBe(toLines(samples));
  });

  test("appended lines come after those of the latest revision, and are refused if it has their step", async () => {
    const id = await create();
    const append = { query: "?append=true" };
    const first = await uploadNew(id, samples.slice(0, 4), append);
    const second = await uploadNew(id, samples.slice(4), append);
    expect([first, second]).toMatchObject([
      { revision: 1, samples: 4, trajectories: 2 },
      { revision: 2, samples: 6, trajectories: 2 },
    ]);
    expect(await exportLines(id)).toBe(toLines(samples));
    expect(await exportLines(id, "?revision=1")).toBe(toLines(samples.slice(0, 4)));
    const repeated = await upload(id, toLines(samples.slice(5)), append);
    expect([repeated.status, await repeated.json()]).toMatchObject([
      422,
      { detail: [{ loc: ["body", "line", 1, "step"] }] },
    ]);
    expect((await upload(id, "", append)).status).toBe(422);
    expect((await read(`${id}/revisions`)).body.data).toHaveLength(2);
  });

  test("of two that append at once, each keeps the other's lines or is told to repeat", async () => {
    const id = await create();
    await uploadNew(id, samples.slice(0, 1));
    const append = async (sample: DatasetSample) => {
      for (;;) {
        const { status } = await upload(id, toLines([sample]), { query: "?append=true" });
        if (status === 201) return;
        expect(status).toBe(409);
      }
    };
    await Promise.all(samples.slice(1).map(append));
    const { latest_revision } = (await read(id)).body;
    expect(latest_revision).toMatchObject({ revision: 6, samples: 6 });
  });

  test("two uploads of the same lines at once make one revision", async () => {
    const id = await create();
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await upload(id, toLines(samples))).status),
    );
    expect(statuses.sort()).toEqual([200, 200, 201]);
    expect((await read(`${id}/revisions`)).body.data).toHaveLength(1);
  });

  test("a conversation's turns become steps, whose messages are stored once", async () => {
    const id = await create();
    const revision = await uploadNew(id, [{ id: 7, messages: turns, loss: "ignored" }]);
    expect(revision).toMatchObject({ samples: 2, trajectories: 1 });
    await using store = await openStore(presage.databaseUrl);
    const parts = await store.database
      .selectFrom("dataset_parts")
      .innerJoin("dataset_revisions", "id", "revision_id")
      .select("text")
      .where("dataset_id", "=", id)
      .execute();
    expect(parts.map(({ text }) => text).sort()).toEqual(
      turns
        .slice(0, 4)
        .map((turn) => JSON.stringify(turn))
        .sort(),
    );
    const steps = [
      {
        dataset_sample_id: "7/0",
        trajectory_id: "7",
        step: 0,
        messages: turns.slice(0, 2),
        next_state: "The fridge is open.",
      },
      {
        dataset_sample_id: "7/1",
        trajectory_id: "7",
        step: 1,
        messages: turns.slice(0, 4),
        next_state: "You hold the milk.",
      },
    ];
    expect((await read(`${id}/trajectories/7`)).body.samples).toEqual(steps);
    const exported = await exportLines(id);
    expect(exported).toBe(toLines(steps));
    const again = await upload(id, exported);
    expect([again.status, await again.json()]).toEqual([200, revision]);
  });

  test("LLM-Sim's transitions are read", async () => {
    const id = await create();
    const state = (lastAction: string, score: number) => ({
      look: "You see a stove.",
      taskDesc: "Boil water.",
      lastAction,
      score,
      gameOver: false,
      objects: [{ uuid: 1, properties: { isOn: score > 0 } }],
    });
    const [current, tick] = [state("", 0), state("turn on stove", 1)];
    const line = {
      game: "boil-water",
      state_id: 3,
      current_state: current,
      action_state: tick,
      tick_state: tick,
    };
    const next_score_state = { score: 2, gameOver: true };
    await uploadNew(id, [line, { ...line, state_id: 4, next_score_state }]);
    const common = {
      trajectory_id: "boil-water",
      context: { task_context: "Boil water." },
      interaction: { state: JSON.stringify(current), action: "turn on stove" },
      next_state: JSON.stringify(tick),
    };
    expect((await read(`${id}/samples`)).body.data).toEqual([
      { dataset_sample_id: "boil-water/3", step: 3, reward: 1, done: false, ...common },
      {
        ...{ dataset_sample_id: "boil-water/4", step: 4, reward: 2, done: true, ...common },
        next_state: JSON.stringify({ ...tick, score_state: next_score_state }),
      },
    ]);
  });

  test("of files of predictions the references are stored, and an export of them is the same revision", async () => {
    const id = await create();
    const revision = await uploadNew(id, [
      { index: 0, prediction_raw: "The door is shut.", reference: "The door is open.", config: "test" },
      { index: 7, prediction_raw: "ERROR: no answer", reference: "" },
    ]);
    expect(revision).toMatchObject({ samples: 2, trajectories: 2 });
    const stored = [
      { dataset_sample_id: "0", trajectory_id: "0", step: 0, messages: [], next_state: "The door is open." },
      { dataset_sample_id: "7", trajectory_id: "7", step: 0, messages: [], next_state: "" },
    ];
    expect((await read(`${id}/samples`)).body.data).toEqual(stored);
    expect((await read(`${id}/trajectories/7`)).body.samples).toEqual(stored.slice(1));
    const exported = await exportLines(id);
    expect(exported).toBe(toLines(stored));
    const again = await upload(id, exported);
    expect([again.status, await again.json()]).toEqual([200, revision]);
    const repeated = ["first", "second"].map((expected) => ({ index: 1, expected, predicted: "" }));
    expect(await uploadNew(id, repeated)).toMatchObject({
      samples: 1,
      warnings: ["1 line passed over: of lines with the same index the first counts."],
    });
    expect((await read(`${id}/samples`)).body.data).toMatchObject([{ next_state: "first" }]);
  });

  test("datasets are listed newest first, and a name is given once", async () => {
    const [oldest, middle, newest] = [await create(), await create(), await create()];
    const list = async (query: string) => await (await presage.call("GET", `/v1/datasets${query}`)).json();
    const page = DatasetListResponse.parse(await list("?limit=2"));
    expect(page.data.map(({ id }) => id)).toEqual([newest, middle]);
    const rest = DatasetListResponse.parse(await list(`?limit=1&after=${page.next}`));
    expect(rest.data.map(({ id }) => id)).toEqual([oldest]);
    const { name } = Dataset.parse((await read(oldest)).body);
    const taken = await presage.call("POST", "/v1/datasets", { name });
    expect([taken.status, await taken.text()]).toEqual([409, expect.stringContaining(name)]);
  });

  test("a deleted dataset is gone at once and its rows soon, and its name is free", async () => {
    const name = "short-lived";
    const response = await presage.call("POST", "/v1/datasets", { name, tags: { split: "test" } });
    const { id, tags } = Dataset.parse(await response.json());
    expect(tags).toEqual({ split: "test" });
    await uploadNew(id, samples);
    const countRows = await rowCounter(id);
    await using store = await openStore(presage.databaseUrl);
    await sql`insert into sample_traits (revision_id, position, digest, verb)
      select revision_id, position, 'd', 'go' from dataset_samples
      where revision_id = (select id from dataset_revisions where dataset_id = ${id})`.execute(
      store.database,
    );
    // The revision, three for each sample including a run's traits, and two contexts.
    expect(await countRows()).toBe(1 + 3 * 6 + 2);
    expect((await presage.call("DELETE", `/v1/datasets/${id}`)).status).toBe(204);
    expect((await presage.call("DELETE", `/v1/datasets/${id}`)).status).toBe(404);
    expect((await read(id)).status).toBe(404);
    expect((await read(`${id}/samples`)).status).toBe(404);
    expect((await presage.call("POST", "/v1/datasets", { name })).status).toBe(201);
    expect(await eventually(countRows, (count) => count === 0)).toBe(0);
  });
});
