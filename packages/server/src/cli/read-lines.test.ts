import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { CommandError } from "./command.ts";
import { checkFiles } from "./files.ts";
import { readLines } from "./read-lines.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-lines-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const lines = '\uFEFF{"a":1}\r\n\n{"a":"\u2028"}';
const numbered = [
  { number: 1, text: '{"a":1}' },
  { number: 3, text: '{"a":"\u2028"}' },
];

async function linesOf(content: string | Uint8Array) {
  const path = join(folder, "lines");
  await Bun.write(path, content);
  return await Array.fromAsync(readLines(path));
}

test("Lines are the same with a byte order mark, carriage returns and gzip", async () => {
  expect(await linesOf(lines)).toEqual(numbered);
  expect(await linesOf(gzipSync(lines))).toEqual(numbered);
  expect(await linesOf("")).toEqual([]);
});

test("A damaged file of gzip is named, without a stack trace", async () => {
  const refused = linesOf(gzipSync(lines).subarray(0, -9));
  expect(refused).rejects.toThrow(
    new CommandError(`${join(folder, "lines")} is damaged: unexpected end of file`),
  );
  await refused.catch(() => {});
});

test("A folder and a pipe are named as what they are", () => {
  expect(() => checkFiles(folder, undefined)).toThrow(`${folder} is a directory. Name a file.`);
  expect(() => checkFiles("/dev/null", undefined)).toThrow(
    "/dev/null is not a regular file. Name another file.",
  );
  expect(() => checkFiles(`${folder}/none`, undefined)).toThrow(`There is no file ${folder}/none`);
});
