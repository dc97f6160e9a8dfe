import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Dataset, DatasetRevision, type DatasetSample } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";

/** Steps of two trajectories that share their context. */
const samples: DatasetSample[] = ["a", "b"].flatMap((trajectory) =>
  [0, 1, 2].map((step) => ({
    dataset_sample_id: `${trajectory}/${step}`,
    trajectory_id: trajectory,
    step,
    context: { task_context: `The task of ${trajectory}.` },
    interaction: { state: `State ${step} «é»`, action: "go on" },
    next_state: `State ${step + 1}`,
    reward: step / 2,
    done: step === 2,
    tags: { split: "test" },
  })),
);

function toLines(objects: readonly unknown[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join("");
}

onEachDatabase((database) => {
  const presage = usePresage({ database });
  let last = 0;

  async function createDataset(): Promise<string> {
    last += 1;
    const response = await presage.call("POST", "/v1/datasets", { name: `dataset ${last}` });
    expect(response.status).toBe(201);
    return Dataset.parse(await response.json()).id;
  }

  const upload = (id: string, body: string | Uint8Array, { query = "", headers = {} } = {}) =>
    presage.call("POST", `/v1/datasets/${id}/revisions${query}`, body, {
      "x-api-key": "bootstrap-key-of-the-tests-0123456789",
      ...headers,
    });

  async function uploaded(id: string, lines: string, options = {}): Promise<DatasetRevision> {
    const response = await upload(id, lines, options);
    expect([response.status, response.ok ? "" : await response.text()]).toEqual([201, ""]);
    return DatasetRevision.parse(await response.json());
  }

  const read = async (path: string) => {
    const response = await presage.call("GET", `/v1/datasets/${path}`);
    // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
    return { status: response.status, body: (await response.json()) as any };
  };

  test("uploaded lines can be read as a page, as a trajectory and as an export that has the revision's digest", async () => {
    const id = await createDataset();
    const revision = await uploaded(id, toLines(samples));
    expect(revision).toMatchObject({ revision: 1, samples: 6, trajectories: 2 });
    expect((await read(`${id}/samples?limit=4`)).body).toEqual({ data: samples.slice(0, 4), next: "4" });
    expect((await read(`${id}/samples?limit=4&after=4`)).body).toEqual({
      data: samples.slice(4),
      next: null,
    });
    expect((await read(`${id}/trajectories/b`)).body).toEqual({
      samples: samples.slice(3),
      trajectory_id: "b",
    });
    const exported = await (await presage.call("GET", `/v1/datasets/${id}/export`)).text();
    expect(exported).toBe(toLines(samples));
    expect(createHash("sha256").update(exported).digest("hex")).toBe(revision.digest);
    expect(Buffer.byteLength(exported)).toBe(revision.bytes);
  });
});
