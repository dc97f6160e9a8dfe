import { appendFileSync } from "node:fs";
import { pMapIterable } from "p-map";
import { keepFinishedLines } from "./finished-lines.ts";
import { digestOf, lineId, type OutputLine } from "./output-line.ts";
import { startProgress } from "./progress.ts";
import { type NumberedLine, readLines } from "./read-lines.ts";

export interface FileWork<Line extends OutputLine> {
  file: string;
  /** Absent: what comes out goes to standard output. */
  out: string | undefined;
  /** Lines under way at once. */
  concurrency: number;
  /** What comes out, in the plural: «predictions». */
  noun: string;
  /** Whether a line that an earlier run wrote needs no second try. */
  isFinished(line: OutputLine): line is Line;
  /** Never throws: a failure is a line like any other. */
  work(input: NumberedLine, digest: string): Promise<Line>;
  /** Hears of each line in the input's order, whichever run it comes from. */
  onLine(line: Line): void;
}

export interface FileReport {
  /** Lines that this run worked on; the others were finished before. */
  worked: number;
  elapsedMs: number;
}

/** Works on every line of a file and writes what comes of it, in the file's order. A later run goes on where this one ended. */
export async function workThroughFile<Line extends OutputLine>(job: FileWork<Line>): Promise<FileReport> {
  const { file, out, concurrency, noun, isFinished, work, onLine } = job;
  const ids = await lineIds(file);
  const finished =
    out === undefined
      ? new Map<string, Line>()
      : await keepFinishedLines(out, { wanted: ids, noun, isFinished });
  const write = (text: string) =>
    out === undefined ? process.stdout.write(text) : appendFileSync(out, text);
  const progress = startProgress(ids.size, noun);
  const startedAtMs = performance.now();
  let worked = 0;

  const lines = pMapIterable(
    readLines(file),
    async (input) => {
      const digest = digestOf(input.text);
      const earlier = finished.get(lineId(input.number, digest));
      return { line: earlier ?? (await work(input, digest)), isNew: earlier === undefined };
    },
    { concurrency, backpressure: concurrency * 4 },
  );
  for await (const { line, isNew } of lines) {
    if (isNew) {
      write(`${JSON.stringify(line)}\n`);
      worked += 1;
    }
    onLine(line);
    progress?.increment();
  }
  progress?.stop();
  return { worked, elapsedMs: performance.now() - startedAtMs };
}

async function lineIds(file: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { number, text } of readLines(file)) ids.add(lineId(number, digestOf(text)));
  return ids;
}
