import { createReadStream, createWriteStream, statSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { byCodePoints } from "../../datasets/traces/content.ts";
import { CommandError } from "../command.ts";
import { checkFiles } from "../files.ts";

/** A file to import. */
export interface ImportFile {
  path: string;
  /** As it was given. */
  shown: string;
  /** What the server is told: trajectories without an id are called after it. */
  name: string;
  /** Whether it was named itself, rather than its folder. */
  isNamed: boolean;
}

/** The files of the arguments of `presage import`: folders are walked, `-` is standard input, which is kept in a file meanwhile. */
export async function withFiles<Result>(
  paths: readonly string[],
  work: (files: ImportFile[]) => Promise<Result>,
): Promise<Result> {
  const folder = paths.includes("-") ? await mkdtemp(join(tmpdir(), "presage-import-")) : undefined;
  try {
    const files: ImportFile[] = [];
    for (const path of paths) {
      if (path === "-" && folder !== undefined) {
        const kept = join(folder, "stdin");
        await pipeline(process.stdin, createWriteStream(kept, { mode: 0o600 }));
        files.push({ path: kept, shown: "-", name: "stdin", isNamed: true });
      } else files.push(...(await filesAt(path)));
    }
    if (files.length === 0) throw new CommandError(`There is no file in ${paths.join(", ")}`);
    return await work(files);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function filesAt(path: string): Promise<ImportFile[]> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    checkFiles(path, undefined);
    return [{ path, shown: path, name: basename(path), isNamed: true }];
  }
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort(byCodePoints)
    .map((file) => ({ path: file, shown: file, name: relative(path, file), isNamed: false }));
}

const startBytes = 4_096;
/** Of gzip, zip and zstd, in hexadecimal. */
const packedStarts = /^(1f8b|504b0304|28b52ffd)/;
const jsonStart = /^\ufeff?\s*[[{]/;

/** Whether a file begins as one of traces may. Of folders others are not read: notes, pictures, empty files. */
export async function mayHoldTraces({ path }: ImportFile): Promise<boolean> {
  const start = Buffer.from(await Bun.file(path).slice(0, startBytes).bytes());
  return jsonStart.test(start.toString()) || packedStarts.test(start.toString("hex"));
}

/** Files as the body of one upload, which is read once. */
export function bodyOf(files: readonly ImportFile[]): {
  body: ReadableStream<Uint8Array> | Blob;
  contentType?: string;
  source?: string;
} {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return { body: Bun.file(only.path), source: only.name };
  const boundary = `presage-${crypto.randomUUID()}`;
  return {
    body: Readable.toWeb(Readable.from(partsOf(files, boundary))) as ReadableStream<Uint8Array>,
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** `FormData` would be read into memory. */
async function* partsOf(files: readonly ImportFile[], boundary: string): AsyncGenerator<Uint8Array, void> {
  const utf8 = new TextEncoder();
  for (const { path, name } of files) {
    const quotedName = name.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character));
    yield utf8.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quotedName}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    );
    yield* createReadStream(path);
    yield utf8.encode("\r\n");
  }
  yield utf8.encode(`--${boundary}--\r\n`);
}
