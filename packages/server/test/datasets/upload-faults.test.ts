import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { slowTest } from "../support/whole-run.ts";

const mebibyte = 1024 * 1024;

function line(step: number, more: object = {}): object {
  return {
    trajectory_id: "t",
    step,
    interaction: { state: "The door is closed.", action: "open door" },
    next_state: "The door is open.",
    ...more,
  };
}

const user = { role: "user", content: "open door" };
const encode = (text: string) => new TextEncoder().encode(text);

/** Bodies whose third line is wrong, and the error for each. */
const faults: Record<string, { third: string | Uint8Array; at?: (string | number)[]; reason: RegExp }> = {
  "not JSON": { third: '{"trajectory_id": "t",', reason: /not JSON/ },
  "not an object": { third: "[1]", reason: /valid dictionary or object [a-z ]+, not a list"/ },
  "a field of another kind": {
    third: JSON.stringify(line(2, { trajectory_id: 4711 })),
    at: ["trajectory_id"],
    reason: /Input should be a valid string, not a number"/,
  },
  "a step between two steps": {
    third: JSON.stringify(line(2, { step: 1.5 })),
    at: ["step"],
    reason: /Input should be a valid integer, not 1\.5"/,
  },
  "a nested field that is null": {
    third: JSON.stringify(line(2, { interaction: { state: null, action: "a" } })),
    at: ["interaction", "state"],
    reason: /Input should be a valid string, not null"/,
  },
  "without a next state": {
    third: JSON.stringify(line(2, { next_state: undefined })),
    at: ["next_state"],
    reason: /Field required/,
  },
  "with an empty action": {
    third: JSON.stringify(line(2, { interaction: { state: "x", action: "" } })),
    at: ["interaction", "action"],
    reason: /./,
  },
  "with a field that nobody knows": {
    third: JSON.stringify(line(2, { nextState: "x" })),
    at: ["nextState"],
    reason: /not permitted/,
  },
  "a step twice": { third: JSON.stringify(line(1)), at: ["step"], reason: /step 1 of trajectory t/ },
  "an id twice": {
    third: JSON.stringify(line(2, { dataset_sample_id: "t/0" })),
    at: ["dataset_sample_id"],
    reason: /t\/0/,
  },
  "with neither interaction nor messages": {
    third: JSON.stringify(line(2, { interaction: undefined })),
    at: ["interaction"],
    reason: /messages/,
  },
  "with both": { third: JSON.stringify(line(2, { messages: [user] })), at: ["messages"], reason: /either/ },
  "with a conversation that the user does not end": {
    third: JSON.stringify(
      line(2, { interaction: undefined, messages: [user, { role: "assistant", content: "x" }] }),
    ),
    at: ["messages"],
    reason: /user/,
  },
  "with a NUL in its id": {
    third: JSON.stringify(line(2, { trajectory_id: "a\0b" })),
    at: ["trajectory_id"],
    reason: /NUL/,
  },
  "not UTF-8": { third: Uint8Array.from([0x22, 0xc3, 0x28, 0x22]), reason: /UTF-8/ },
  "longer than 16 MiB": {
    third: JSON.stringify(line(2, { next_state: "x".repeat(17 * mebibyte) })),
    reason: /longer than 16777216 bytes/,
  },
  "nested too deeply": { third: `${"[".repeat(100_000)}${"]".repeat(100_000)}`, reason: /nested|values/ },
  "made of too many values": { third: `[${"[],".repeat(1_000_000)}[]]`, reason: /values/ },
};

onAnyDatabase((database) => {
  const presage = usePresage({
    database,
    PRESAGE_MAX_DATASET_BYTES: String(20 * mebibyte),
    PRESAGE_DATASET_QUOTA_BYTES: "2000000",
  });
  const { create, upload, read } = datasetClient(presage);

  test("a wrong line is named by its number, and nothing of the upload is kept", async () => {
    const id = await create();
    for (const [what, { third, at = [], reason }] of Object.entries(faults)) {
      const bytes = typeof third === "string" ? encode(third) : third;
      const body = Buffer.concat([
        encode(toLines([line(0), line(1)])),
        bytes,
        encode(`\n${toLines([line(3)])}`),
      ]);
      const response = await upload(id, body);
      const text = await response.text();
      expect([what, response.status, text.slice(0, 300)]).toEqual([what, 422, expect.stringMatching(reason)]);
      expect(JSON.parse(text).detail).toMatchObject([{ loc: ["body", "line", 3, ...at] }]);
    }
    expect((await read(`${id}/revisions`)).body).toEqual({ data: [], next: null });
    expect((await read(`${id}/samples`)).status).toBe(404);
  });

  test("a repetition that is far from its first line is named as well", async () => {
    const id = await create();
    const lines = Array.from({ length: 3_000 }, (_, step) => line(step));
    const response = await upload(id, toLines([...lines, line(7)]));
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["body", "line", 3_001, "step"] }] });
  });

  test("empty lines count, and an upload without samples is refused", async () => {
    const id = await create();
    const response = await upload(id, `\n  \r\n${toLines([line(0)])}\n{}\n`);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["body", "line", 5, "trajectory_id"] }] });
    for (const body of ["", "\n\n"]) {
      const empty = await upload(id, body);
      expect([empty.status, await empty.json()]).toMatchObject([422, { detail: [{ loc: ["body"] }] }]);
    }
  });

  slowTest(
    "gzip is read, refused where it is broken or cut off, and bounded where it is a bomb",
    async () => {
      const id = await create();
      const gzip = { "content-encoding": "gzip" };
      const good = gzipSync(toLines([line(0), line(1)]));
      const second = gzipSync(toLines([line(2)]));
      for (const wrong of [
        good.subarray(0, good.length - 12),
        encode("not gzip"),
        encode(toLines([line(0)])),
      ]) {
        const response = await upload(id, wrong, { headers: gzip });
        expect([response.status, await response.text()]).toEqual([422, expect.stringContaining("gzip")]);
      }
      const bombs = {
        "one long line": [gzipSync(Buffer.alloc(20 * mebibyte, "x")), 422],
        "too many bytes": [gzipSync(Buffer.alloc(40 * mebibyte, "\n")), 413],
      } as const;
      for (const [what, [bomb, status]] of Object.entries(bombs)) {
        expect([what, (await upload(id, bomb, { headers: gzip })).status]).toEqual([what, status]);
      }
      const unknown = await upload(id, good, { headers: { "content-encoding": "br" } });
      expect(unknown.status).toBe(422);
      const joined = await upload(id, Buffer.concat([good, second]), { headers: gzip });
      expect([joined.status, await joined.json()]).toMatchObject([201, { samples: 3 }]);
    },
  );

  test("the datasets of an account have at most its quota together, and a deletion makes room", async () => {
    const texts = (count: number) =>
      toLines(Array.from({ length: count }, (_, step) => line(step, { next_state: "x".repeat(10_000) })));
    const first = await create();
    expect((await upload(first, texts(120))).status).toBe(201);
    const other = await create();
    const refused = await upload(other, texts(100));
    expect([refused.status, await refused.text()]).toEqual([
      413,
      expect.stringContaining("PRESAGE_DATASET_QUOTA_BYTES"),
    ]);
    expect((await presage.call("DELETE", `/v1/datasets/${first}`)).status).toBe(204);
    expect((await upload(other, texts(100))).status).toBe(201);
  });

  test("an unknown dataset and an unknown format are refused", async () => {
    expect((await upload(crypto.randomUUID(), toLines([line(0)]))).status).toBe(404);
    expect((await upload(await create(), toLines([line(0)]), { query: "?format=csv" })).status).toBe(422);
  });
});
