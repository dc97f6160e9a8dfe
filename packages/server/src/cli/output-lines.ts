import { existsSync } from "node:fs";
import { appendFile, rename, writeFile } from "node:fs/promises";
import { CommandError } from "./command-error.ts";
import { readLines } from "./read-lines.ts";

/** What is written for one line of an input file. */
export interface OutputLine extends Record<string, unknown> {
  /** The input line's number, from 1. */
  line: number;
  /** Hash of the input line's text: a later run sees from it whether the line has changed. */
  digest: string;
  error?: { category: string; detail: string };
}

/** Detects changed lines; it need not resist attacks. */
export function digestOf(text: string): string {
  return Bun.hash(text).toString(16);
}

export function lineId(number: number, digest: string): string {
  return `${number}:${digest}`;
}

export interface FinishedLinesOptions<Line extends OutputLine> {
  /** Ids of the input's lines. */
  inputIds: ReadonlySet<string>;
  /** What the lines contain, in the plural. */
  noun: string;
  isFinished(line: OutputLine): line is Line;
}

/**
 * Reads the output of an earlier run and keeps in the file only its finished lines that the input still has, so that lines
 * that failed, were cut off or have changed are processed again and each input line ends up in the file once.
 */
export async function keepFinishedLines<Line extends OutputLine>(
  path: string,
  { inputIds, noun, isFinished }: FinishedLinesOptions<Line>,
): Promise<Map<string, Line>> {
  const finished = new Map<string, Line>();
  if (!existsSync(path)) return finished;
  await refuseForeignFile(path, noun);
  const kept = `${path}.kept`;
  await writeFile(kept, "");
  for await (const { text } of readLines(path)) {
    const line = parse(text);
    if (line === undefined || !isFinished(line)) continue;
    const id = lineId(line.line, line.digest);
    if (!inputIds.has(id) || finished.has(id)) continue;
    finished.set(id, line);
    await appendFile(kept, `${text}\n`);
  }
  await rename(kept, path);
  return finished;
}

/** A file that this command did not write must not be changed. Only its last line may be cut off. */
async function refuseForeignFile(path: string, noun: string): Promise<void> {
  let cutOffAt: number | undefined;
  for await (const { number, text } of readLines(path)) {
    const line = parse(text);
    const isOutput = typeof line?.line === "number" && typeof line.digest === "string";
    if (cutOffAt !== undefined || (line !== undefined && !isOutput)) {
      throw new CommandError(
        `${path} contains something other than ${noun} (line ${cutOffAt ?? number}); nothing was changed.`,
      );
    }
    if (line === undefined) cutOffAt = number;
  }
}

function parse(text: string): OutputLine | undefined {
  try {
    return JSON.parse(text) as OutputLine;
  } catch {
    return undefined;
  }
}
