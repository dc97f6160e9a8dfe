import { existsSync } from "node:fs";
import { appendFile, rename, writeFile } from "node:fs/promises";
import { CommandError } from "../command-error.ts";
import { lineId, type OutputLine } from "./output-line.ts";
import { readLines } from "./read-lines.ts";

export interface FinishedLinesOptions<Line extends OutputLine> {
  /** Ids of the lines that the input has. */
  wanted: ReadonlySet<string>;
  /** What the lines hold, in the plural. */
  noun: string;
  isFinished(line: OutputLine): line is Line;
}

/**
 * Reads what an earlier run wrote and leaves only its finished lines in the file, as far as they are still wanted, so
 * that lines that failed, were cut off or have changed are worked on again and every input line ends up there once.
 */
export async function keepFinishedLines<Line extends OutputLine>(
  path: string,
  { wanted, noun, isFinished }: FinishedLinesOptions<Line>,
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
    if (!wanted.has(id) || finished.has(id)) continue;
    finished.set(id, line);
    await appendFile(kept, `${text}\n`);
  }
  await rename(kept, path);
  return finished;
}

/** A file that this command did not write is not its to change. Only the last line may have been cut off. */
async function refuseForeignFile(path: string, noun: string): Promise<void> {
  let cutOffAt: number | undefined;
  for await (const { number, text } of readLines(path)) {
    const line = parse(text);
    const isOurs = typeof line?.line === "number" && typeof line.digest === "string";
    if (cutOffAt !== undefined || (line !== undefined && !isOurs)) {
      throw new CommandError(
        `${path} holds something else than ${noun} (line ${cutOffAt ?? number}); nothing was changed.`,
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
