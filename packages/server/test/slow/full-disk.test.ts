import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountDisk } from "../support/disk.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const directory = mkdtempSync(join(tmpdir(), "presage-full-"));
const unmount = mountDisk(directory, "24m");

afterAll(() => {
  unmount?.();
  rmSync(directory, { recursive: true });
});

test.skipIf(unmount === undefined)(
  "a run says that it waits for a full disk, and goes on once there is room",
  async () => {
    upstream.answer = async () => {
      await Bun.sleep(20);
      return Response.json(completion("next ".repeat(4_000)));
    };
    const presage = await startPresage({
      PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "m",
      // The disk must really fill up.
      PRESAGE_MIN_FREE_DISK_BYTES: "0",
    });
    const samples = Array.from({ length: 300 }, (_, step) => ({
      trajectory_id: "t",
      step,
      interaction: { state: `state ${step}`, action: "go on" },
      next_state: "next",
    }));
    const dataset_id = await datasetClient(presage).create();
    await datasetClient(presage).uploadNew(dataset_id, samples);
    const { create, read, end } = runClient(presage);
    const { id } = await create({ dataset_id, target: { deployment: "default" } });
    await eventually(
      () => read(id),
      ({ progress }) => progress.predicted > 5,
      30_000,
    );
    const filler = join(directory, "filler");
    expect(() => {
      writeFileSync(filler, new Uint8Array(64_000_000));
    }).toThrow("ENOSPC");
    const waiting = await eventually(
      () => read(id),
      ({ status_reason }) => status_reason !== null,
      28_000,
    );
    expect(waiting.status_reason).toContain("full");
    rmSync(filler);
    expect(await end(id, 60_000)).toMatchObject({
      status: "finished",
      status_reason: null,
      progress: { predicted: 300, failed: 0 },
    });
    await presage.stop();
  },
  120_000,
);
