import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatasetRevision, HTTPValidationError } from "@presage/contract";
import type { Draw } from "../../../../fuzz/generate/draw.ts";
import { layouts } from "../../src/datasets/traces/layouts.ts";
import { mutated } from "../../src/datasets/traces/mutated.fixture.ts";
import { printable } from "../../src/platform/words.ts";
import { testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { seeded } from "../support/seeded.ts";
import { isWholeRun } from "../support/whole-run.ts";

const presage = usePresage();
const { create, upload } = datasetClient(presage);
const files = isWholeRun ? 60 : 20;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-doors-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A file in one of the layouts with other values, and sometimes with a changed byte or a missing end. */
function brokenFile(draw: Draw): Buffer {
  const bytes = Buffer.from(mutated(draw, draw.pick(layouts).about.example));
  if (draw.chance(0.2) && bytes.length > 0) bytes[draw.below(bytes.length)] = draw.below(256);
  return draw.chance(0.2) ? bytes.subarray(0, draw.below(bytes.length + 1)) : bytes;
}

/** What an upload stores, or the error texts if it is refused. */
async function overHttp(bytes: Buffer, onFault: string) {
  const answer = await upload(await create(), bytes, { query: `?source=broken.jsonl&on_fault=${onFault}` });
  if (answer.status === 201) return { read: readOf(DatasetRevision.parse(await answer.json())) };
  expect([bytes.toString(), answer.status]).toEqual([bytes.toString(), 422]);
  const { detail } = HTTPValidationError.parse(await answer.json());
  return { faults: detail.map(({ msg, ctx }) => (typeof ctx?.error === "string" ? ctx.error : msg)) };
}

function readOf({ digest, samples, trajectories, import: read }: DatasetRevision) {
  const { format, left_out, redacted, faults } = read ?? {};
  return { digest, samples, trajectories, format, left_out, redacted, faults };
}

async function byCommand(bytes: Buffer, onFault: string, name: string) {
  const path = join(folder, "broken.jsonl");
  await Bun.write(path, bytes);
  const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(folder, "presage.db")}` };
  return await runPresage(["import", path, "--name", name, "--on-fault", onFault, "--json"], environment);
}

test("a preview of several files ends where it has read enough", async () => {
  const line = JSON.stringify({
    ...{ trajectory_id: "t", step: 0, interaction: { state: "s".repeat(1_000_000), action: "go" } },
    next_state: "n",
  });
  const form = new FormData();
  for (const name of ["a.jsonl", "b.jsonl"]) form.append("file", new Blob([`${line}\n`.repeat(70)]), name);
  const response = await fetch(`${presage.url}/v1/imports/preview`, {
    ...{ method: "POST", body: form, headers: { "x-api-key": testKey } },
  });
  expect(await response.json()).toMatchObject({ complete: false });
});

test("a part without a filename refuses the upload", async () => {
  const form = new FormData();
  form.append("file", new Blob([layouts[0]?.about.example ?? ""]), "a.jsonl");
  form.append("more", layouts[0]?.about.example ?? "");
  const response = await fetch(`${presage.url}/v1/imports/preview`, {
    ...{ method: "POST", body: form, headers: { "x-api-key": testKey } },
  });
  expect(response.status).toBe(422);
  expect(await response.text()).toContain('The part \\"more\\" has no filename');
});

test(
  "a broken file has the same verdict by command line and over HTTP",
  seeded(async (draw) => {
    const seen = { stored: 0, refused: 0 };
    for (let number = 0; number < files; number += 1) {
      const bytes = brokenFile(draw);
      const onFault = draw.pick(["refuse", "skip"]);
      const { read, faults = [] } = await overHttp(bytes, onFault);
      const { code, stdout, stderr } = await byCommand(bytes, onFault, `broken ${number}`);
      const about = `${onFault} ${bytes.toString()}\n${stderr}`;
      expect([about, code]).toEqual([about, read === undefined ? 1 : 0]);
      if (read === undefined) {
        seen.refused += 1;
        for (const fault of faults.slice(0, 10)) expect(stderr).toContain(printable(fault));
      } else {
        seen.stored += 1;
        expect([about, JSON.parse(stdout)]).toEqual([about, expect.objectContaining(read)]);
      }
    }
    expect(Math.min(seen.stored, seen.refused)).toBeGreaterThan(0);
  }),
);
