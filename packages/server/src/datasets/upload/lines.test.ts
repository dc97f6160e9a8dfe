import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { gunzip } from "./lines.ts";

const mebibyte = 1024 * 1024;

async function lengthOf(bytes: Uint8Array): Promise<number> {
  // As chunks arrive over the network.
  const pieces = async function* () {
    for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
  };
  let length = 0;
  for await (const chunk of gunzip(pieces())) length += chunk.length;
  return length;
}

test("a long body that becomes more than 200 times as long is refused before all of it is decompressed", async () => {
  const dense = gzipSync(Buffer.alloc(300 * mebibyte, "x"));
  expect(dense.length).toBeLessThan(mebibyte);
  await expect(lengthOf(dense)).rejects.toMatchObject({
    code: "body_too_large",
    message: expect.stringContaining("more than 200 times"),
  });
});

test("a short body may be as dense as it likes, and a long one of records is read to its end", async () => {
  const short = Buffer.alloc(16 * mebibyte, '{"step":1}\n');
  expect(await lengthOf(gzipSync(short))).toBe(short.length);
  // Each record has two hundred characters, a tenth of which differ.
  const records = Buffer.from(
    Array.from({ length: 250_000 }, (_, step) => {
      const digest = createHash("md5").update(String(step)).digest("hex");
      return `{"step":${step},"digest":"${digest}","text":"${"The door is open. ".repeat(7)}"}\n`;
    }).join(""),
  );
  expect(records.length).toBeGreaterThan(40 * mebibyte);
  expect(await lengthOf(gzipSync(records))).toBe(records.length);
});
