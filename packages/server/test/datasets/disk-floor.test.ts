import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { mountDisk } from "../support/disk.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase, onPostgres } from "../support/store/databases.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const mebibyte = 1024 * 1024;
/** More than any disk has. */
const PRESAGE_MIN_FREE_DISK_BYTES = String(Number.MAX_SAFE_INTEGER);
const shortage = /^The database's disk has \d+ bytes free, and .*\(PRESAGE_MIN_FREE_DISK_BYTES\)\.$/;

/** A disk that other programs hardly write to, for when no separate disk can be mounted. */
const quietDisk =
  ["/dev/shm", "/tmp"].find((path) => existsSync(path) && !tmpdir().startsWith(path)) ?? tmpdir();

const lines = (count: number) =>
  Array.from({ length: count }, (_, step) => ({
    trajectory_id: "t",
    step,
    interaction: { state: "The door is closed.", action: "open door" },
    next_state: "The door is open.",
  }));

const upstream = startUpstream();
let folder: string;
let unmount: () => void;
beforeAll(async () => {
  folder = await mkdtemp(join(quietDisk, "presage-disk-"));
  unmount = mountDisk(folder, "1g") ?? (() => {});
});
afterAll(async () => {
  await upstream.stop();
  unmount();
  await rm(folder, { recursive: true });
});

test("below the floor uploads are refused, small writes go on, and a run waits until there is room", async () => {
  const floored = {
    PRESAGE_DATABASE_URL: `sqlite:${join(folder, "floor.db")}`,
    PRESAGE_UPSTREAM_URL: upstream.url,
  };
  const { bavail, bsize } = await statfs(folder);
  const presage = await startPresage({
    ...floored,
    PRESAGE_MIN_FREE_DISK_BYTES: String(bavail * bsize - 32 * mebibyte),
  });
  const { create, upload, uploadNew, read } = datasetClient(presage);
  const { read: readRun, create: createRun, end } = runClient(presage);
  const dataset_id = await create();
  await uploadNew(dataset_id, lines(6));
  const held = Promise.withResolvers<void>();
  let asked = 0;
  upstream.answer = async () => {
    asked += 1;
    if (asked === 3) await held.promise;
    return Response.json(completion("The door is open."));
  };
  const { id } = await createRun({ dataset_id, target: { deployment: "default" }, concurrency: 1 });
  await eventually(
    async () => asked,
    (count) => count === 3,
  );

  const filler = join(folder, "filler");
  await writeFile(filler, Buffer.alloc(48 * mebibyte, "x"));
  const refused = await upload(dataset_id, toLines(lines(7)));
  expect([refused.status, refused.headers.get("x-should-retry"), await refused.json()]).toEqual([
    507,
    "false",
    { detail: expect.stringMatching(shortage), category: "unavailable" },
  ]);
  expect((await read(`${dataset_id}/revisions`)).body.data).toHaveLength(1);
  const evaluated = await presage.call("POST", "/v1/evaluate", {
    evaluators: [{ evaluator: "exact-match" }],
    evaluated_model_output: "a",
    evaluated_model_gold_answer: "a",
  });
  expect([evaluated.status, await evaluated.json()]).toMatchObject([
    200,
    { results: [{ status: "success" }] },
  ]);
  // The run checks more than once a second, and work in progress ends.
  await Bun.sleep(2_000);
  held.resolve();
  const waiting = await eventually(
    () => readRun(id),
    ({ status }) => status === "paused",
  );
  expect(waiting).toMatchObject({
    status_reason: expect.stringMatching(shortage),
    progress: { predicted: 3, failed: 0 },
  });

  await rm(filler);
  expect(await end(id)).toMatchObject({
    status: "finished",
    status_reason: null,
    progress: { predicted: 6, failed: 0 },
  });
  expect((await upload(dataset_id, toLines(lines(7)))).status).toBe(201);
  await presage.stop();
}, 300_000);

slowTest(
  "an upload that comes to the floor ends there, nothing of it is kept, and the next one has its room",
  async () => {
    const { bavail, bsize } = await statfs(folder);
    const presage = await startPresage({
      PRESAGE_DATABASE_URL: `sqlite:${join(folder, "long.db")}`,
      PRESAGE_MIN_FREE_DISK_BYTES: String(bavail * bsize - 48 * mebibyte),
    });
    const { create, upload, uploadNew, read } = datasetClient(presage);
    const id = await create();
    await uploadNew(id, lines(1));
    const long = lines(150).map((line) => ({ ...line, next_state: "x".repeat(mebibyte) }));
    const response = await upload(id, toLines(long));
    expect([response.status, await response.json()]).toEqual([
      507,
      { detail: expect.stringMatching(shortage), category: "unavailable" },
    ]);
    expect((await read(`${id}/revisions`)).body.data).toHaveLength(1);
    // The file stays as large as it was.
    const next = await eventually(
      () => upload(id, toLines(lines(2))),
      ({ status }) => status !== 507,
      20_000,
    );
    expect(next.status).toBe(201);
    await presage.stop();
  },
  60_000,
);

test("the command line keeps the floor of the disk as well, and the doctor names it", async () => {
  const environment = {
    PRESAGE_DATABASE_URL: `sqlite:${join(folder, "command.db")}`,
    PRESAGE_MIN_FREE_DISK_BYTES,
  };
  const file = join(folder, "lines.jsonl");
  await writeFile(file, toLines(lines(2)));
  expect((await runPresage(["migrate"], environment)).code).toBe(0);
  const imported = await runPresage(["datasets", "import", "--name", "d", "--file", file], environment);
  expect([imported.code, imported.stderr]).toEqual([
    1,
    expect.stringContaining("PRESAGE_MIN_FREE_DISK_BYTES"),
  ]);
  const account = await runPresage(["account", "import", file], environment);
  expect([account.code, account.stderr]).toEqual([1, expect.stringContaining("PRESAGE_MIN_FREE_DISK_BYTES")]);
  const { code, stdout } = await runPresage(["doctor", "--json"], environment);
  const found = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .find(({ check }) => check === "disk");
  expect([code, found]).toEqual([
    1,
    { check: "disk", state: "bad", text: expect.stringContaining("PRESAGE_MIN_FREE_DISK_BYTES") },
  ]);
});

onPostgres((database) => {
  const presage = usePresage({ database, PRESAGE_MIN_FREE_DISK_BYTES });
  const { create, uploadNew } = datasetClient(presage);

  test("PostgreSQL's disk is not looked at", async () => {
    expect(await uploadNew(await create(), lines(2))).toMatchObject({ samples: 2 });
  });
});

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { create, upload, read } = datasetClient(presage);

  slowTest("a body of 300 kB that becomes 300 MB is refused, and nothing of it is kept", async () => {
    const [line = ""] = toLines(lines(1)).split("\n");
    const [before, after] = line.split('"step":0');
    // The padding is inside a text, so that each line is as dense as possible.
    const dense = Array.from(
      { length: 300 },
      (_, step) => `${before}"step":${step}${after?.replace("is open", `is ${"x".repeat(mebibyte)}`)}\n`,
    ).join("");
    const body = gzipSync(dense);
    expect(body.length).toBeLessThan(500_000);
    const id = await create();
    const response = await upload(id, body, { headers: { "content-encoding": "gzip" } });
    expect([response.status, await response.text()]).toEqual([413, expect.stringContaining("200 times")]);
    expect((await read(`${id}/revisions`)).body.data).toEqual([]);
  });
});
