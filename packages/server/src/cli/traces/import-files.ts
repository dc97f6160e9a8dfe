import { createReadStream, createWriteStream, existsSync, statSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { DatasetSample, ImportPreview } from "@presage/contract";
import { PresageError } from "@presage/sdk";
import { byCodePoints } from "../../datasets/traces/content.ts";
import { toImportFault } from "../../datasets/traces/import.ts";
import { folderOfPart } from "../../datasets/traces/layouts/agents/openhands.ts";
import { UploadError } from "../../platform/errors.ts";
import { andMore, commandName, countOf, printable, shortened } from "../../platform/words.ts";
import { CommandError, printNotice } from "../command.ts";
import { checkFiles } from "../files.ts";

const maxTextCharacters = 160;
const maxTools = 12;

/** A file's contents, in lines: its layout, its figures, what is left out, and its first sample with all fields or the usual ones. */
export function describePreview(
  { shown }: ImportFile,
  preview: ImportPreview,
  { isWhole }: { isWhole: boolean },
): string {
  const { files, left_out, redacted, repaired, skipped, first, complete } = preview;
  const reasons = new Set(
    files.map(({ format, recognised_by }) => `${format} (recognised by ${recognised_by})`),
  );
  const lines = [
    `${printable(shown)}   ${[...reasons].join(", ") || "no known format"}`,
    `  ${figuresOf(preview)}`,
    ...listed("left out", left_out),
    ...listed("redacted", redacted),
    ...(repaired === 0 ? [] : [`  repaired: ${countOf(repaired, "text")} with NUL or lone surrogates`]),
    ...(skipped === 0 ? [] : [`  faulty: ${skipped}`]),
    ...(complete ? [] : ["  only the first 64 MiB were read for this table"]),
    ...(preview.warnings ?? []).map((warning) => `  ${printable(warning)}`),
    ...describeSample(first[0], isWhole),
  ];
  return `${lines.join("\n")}\n`;
}

function figuresOf({ trajectories, samples, tools, with: having }: ImportPreview): string {
  const named = tools.slice(0, maxTools).map(printable);
  const share = (count: number, what: string) => {
    if (count === 0) return `none has ${what}`;
    return count === samples
      ? `all have ${what}`
      : `${count} of ${samples} ${count === 1 ? "has" : "have"} ${what}`;
  };
  const parts = [
    `${countOf(trajectories, "trajectory", "trajectories")}, ${countOf(samples, "sample")}`,
    ...(named.length === 0 ? [] : [`tools: ${andMore(named, tools.length)}`]),
    [
      share(having.time, "a time"),
      share(having.usage, "token usage"),
      share(having.reward, "a reward"),
      share(having.done, "an end"),
    ].join(", "),
  ];
  return samples === 0 ? (parts[0] ?? "") : parts.join("; ");
}

function listed(heading: string, counts: Readonly<Record<string, number>>): string[] {
  const texts = Object.entries(counts).map(([what, count]) => `${count} ${what.replaceAll("_", " ")}`);
  return texts.length === 0 ? [] : [`  ${heading}: ${texts.join(", ")}`];
}

function describeSample(sample: DatasetSample | undefined, isWhole: boolean): string[] {
  if (sample === undefined) return [];
  const { trajectory_id, step, interaction, context, messages, next_state, reward, done, at, usage, tags } =
    sample;
  const more = isWhole
    ? {
        ...context,
        reward,
        done,
        at,
        usage: usage && JSON.stringify(usage),
        tags: tags && JSON.stringify(tags),
      }
    : {};
  const texts = {
    ...(interaction ?? { messages: messages && JSON.stringify(messages) }),
    next: next_state,
    ...more,
  };
  return [
    `  first sample   ${printable(trajectory_id)} step ${step}`,
    ...Object.entries(texts).flatMap(([name, text]) =>
      text === undefined || text === null ? [] : [`    ${name.padEnd(7)} ${oneLine(String(text))}`],
    ),
  ];
}

function oneLine(text: string): string {
  return printable(shortened(text, maxTextCharacters).replaceAll(/\r?\n/g, "⏎").replaceAll("\t", " "));
}

type Fault = ImportPreview["faults"][number];
const maxFaults = 10;

/** The first faults, one per line. */
export function describeFaults(
  faults: readonly Fault[],
  total: number,
  files: readonly ImportFile[],
): string {
  const shownOf = (name: string | undefined) =>
    (name === undefined ? undefined : (files.find((file) => file.name === name)?.shown ?? name)) ??
    (files.length === 1 ? files[0]?.shown : undefined);
  const lines = faults.slice(0, maxFaults).map(({ loc, msg, file }) => {
    const [, unit, number, ...path] = loc;
    const place = number === undefined ? [] : [`${unit} ${number}`];
    const field = path.length === 0 ? [] : [path.join(".")];
    return printable(
      [shownOf(file), ...place, ...field, msg].filter((part) => part !== undefined).join(": "),
    );
  });
  const rest = total - lines.length;
  return [...lines, ...(rest > 0 ? [`and ${countOf(rest, "more fault")}`] : [])].join("\n");
}

/** Whether a file was refused because no layout fits it. */
export function isUnrecognised(error: unknown): boolean {
  const types =
    error instanceof UploadError ? error.faults : error instanceof PresageError ? error.issues : [];
  return types.some(({ type }) => type === "unrecognised_layout");
}

/** The error that a person sees for a refused import. Other errors stay as they are. */
export function refusal(error: unknown, files: readonly ImportFile[]): unknown {
  const [faults, total] = faultsOf(error);
  if (faults.length === 0) return error;
  const hint = isUnrecognised(error)
    ? `\n${commandName} formats lists what each format needs. Other records can be written as lines of the format presage.`
    : "";
  return new CommandError(describeFaults(faults, total, files) + hint);
}

function faultsOf(error: unknown): [Fault[], number] {
  if (error instanceof UploadError) return [error.faults.map(toImportFault), error.total];
  if (!(error instanceof PresageError)) return [[], 0];
  const issues = error.issues.filter(({ loc }) => loc[0] === "body");
  const total = Number(issues[0]?.ctx?.faults ?? issues.length);
  return [
    issues.map(({ loc, msg, ctx }) => ({
      loc,
      msg: typeof ctx?.error === "string" ? ctx.error : msg,
      ...(typeof ctx?.file === "string" && { file: ctx.file }),
    })),
    total,
  ];
}

export interface ImportFile {
  path: string;
  /** The path as it was given. */
  shown: string;
  /** The name sent to the server, after which trajectories without an id are called. */
  name: string;
  /** Whether the file itself was named, rather than its folder. */
  isNamed: boolean;
}

/** The files that the arguments of `presage import` name: folders are walked, `-` is standard input, kept in a temporary file. */
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

/** Calls `work` with the options; `--file -` becomes the temporary file that keeps standard input. */
export async function withFile<Options extends { file?: string }>(
  options: Options,
  work: (options: Options) => Promise<void>,
): Promise<void> {
  if (options.file !== "-") return await work(options);
  await withFiles(["-"], async (files) => {
    for (const { path } of files) await work({ ...options, file: path });
  });
}

async function filesAt(path: string): Promise<ImportFile[]> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    checkFiles(path, undefined);
    return [{ path, shown: path, name: nameOf(path, basename(path)), isNamed: true }];
  }
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort(byCodePoints)
    .filter((file) => {
      // A link to a folder is not followed: it may lead back.
      const isFile = existsSync(file) && statSync(file).isFile();
      if (!isFile) printNotice(`${printable(file)} is left out: it is a link, but to no file.`);
      return isFile;
    })
    .map((file) => ({ path: file, shown: file, name: nameOf(file, relative(path, file)), isNamed: false }));
}

/** A part of a conversation is named with its folder and the folder around that. */
function nameOf(path: string, name: string): string {
  const whole = resolve(path);
  const folder = folderOfPart(whole);
  // A name that includes its folder is unique below the argument.
  return folder === undefined || folderOfPart(name) ? name : relative(".", whole);
}

/** Joins files whose names make them parts of one conversation, shown as their folder; every other file stays separate. */
export function conversationsOf(files: readonly ImportFile[]): (ImportFile & { parts: ImportFile[] })[] {
  const found = Map.groupBy(files, (file) => folderOfPart(resolve(file.path)) ?? file);
  return [...found].flatMap(([folder, parts]) =>
    parts.slice(0, 1).map((file) => ({
      ...file,
      shown: typeof folder === "string" ? relative(".", folder) || "." : file.shown,
      parts,
    })),
  );
}

const startBytes = 4_096;
/** The first bytes of gzip, zip and zstd files, in hexadecimal. */
const packedStarts = /^(1f8b|504b0304|28b52ffd)/;
const jsonStart = /^\ufeff?\s*[[{]/;

/** Whether a file begins as trace files do. In folders, other files are skipped: notes, pictures, empty files. */
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

/** Written by hand, because `FormData` would be read into memory. */
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
