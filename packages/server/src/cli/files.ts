import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ValidationError } from "@presage/contract";
import { SingleBar } from "cli-progress";
import { pMapIterable } from "p-map";
import type { z } from "zod";
import { InvalidRequestError, said, validate } from "../http/validate.ts";
import { replaceFile } from "../platform/storage/backup.ts";
import { countOf, isObject, printable, printableJson, shortened } from "../platform/words.ts";
import {
  CommandError,
  defaultMaxHttpRequests,
  interruptedExitCode,
  onSignals,
  printNotice,
  toFlag,
} from "./command.ts";
import { type NumberedLine, readLines } from "./read-lines.ts";

/** Where output lines go: to a file, to standard output, or nowhere. */
type Output = { path: string } | "stdout" | "nowhere";

/** Refuses files that cannot be read or written, before the first request is made. */
export function checkFiles(file: string, out: string | undefined): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandError(`There is no file ${file}`);
  refuseOther(file, found);
  if (!isAllowed(file, constants.R_OK)) throw new CommandError(`${file} cannot be read by this user`);
  if (out === undefined) return;
  checkOutputFile(out);
  if (existsSync(out) && realpathSync(out) === realpathSync(file)) {
    throw new CommandError("--out would overwrite --file");
  }
}

/** Refuses a file that cannot be written, and anything that is not a file, such as a pipe, unless it may be written to directly. */
export function checkOutputFile(out: string, { mayBePipe = false } = {}): void {
  const found = statSync(out, { throwIfNoEntry: false });
  if (found !== undefined) refuseOther(out, found, mayBePipe);
  if (!existsSync(dirname(resolve(out)))) throw new CommandError(`The directory of ${out} does not exist`);
  if (!isAllowed(existsSync(out) ? out : dirname(resolve(out)), constants.W_OK))
    throw new CommandError(`${out} cannot be written by this user`);
}

function refuseOther(path: string, found: Stats, mayBePipe = false): void {
  if (found.isDirectory()) throw new CommandError(`${path} is a directory. Name a file.`);
  if (!found.isFile() && !mayBePipe)
    throw new CommandError(`${path} is not a regular file. Name another file.`);
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** JSON lines are for programs and files: a terminal gets them only with `--json`. */
export function readOutput({ out, json }: { out?: string; json?: boolean }): Output {
  if (out !== undefined) {
    if (json) throw new CommandError("--json cannot be combined with --out");
    return { path: out };
  }
  return json || !process.stdout.isTTY ? "stdout" : "nowhere";
}

export function readConcurrency(text: string): number {
  const concurrency = Number(text);
  if (!Number.isInteger(concurrency) || concurrency <= 0)
    throw new CommandError("--concurrency takes a whole number above 0");
  const allowed = Number(process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? defaultMaxHttpRequests);
  if (concurrency > allowed) {
    printNotice(
      `Only ${allowed} requests are sent at a time; for ${concurrency}, set BUN_CONFIG_MAX_HTTP_REQUESTS=${concurrency}.`,
    );
  }
  return concurrency;
}

/** An input line that cannot be used; the message says why. */
export class InvalidLineError extends Error {}

const idField = /(^|_)id$|^step$/;

/** Parses an input line, which must be a JSON object, with ids that JavaScript can tell apart. */
export function parseLine(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (!isObject(value)) throw new InvalidLineError("the line is not a JSON object");
  for (const [name, id] of Object.entries(value))
    if (idField.test(name) && Number.isInteger(id) && !Number.isSafeInteger(id))
      throw new InvalidLineError(`${name}: an integer beyond 2^53 would be rounded; write it in quotes`);
  return { ...value };
}

/** Checks a line, with the same wording as the API. */
export function checkLine<Schema extends z.ZodType>(schema: Schema, value: unknown): z.input<Schema> {
  return check(schema, value, (issues) => new InvalidLineError(describeIssues(issues)));
}

/** Checks values from options as the API would. `toOption` names the option for a field. */
export function checkOptions<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  toOption = toFlag,
): z.input<Schema> {
  return check(schema, value, (issues) => new CommandError(describeIssues(issues, toOption)));
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  toError: (issues: readonly ValidationError[]) => Error,
): z.input<Schema> {
  try {
    return validate(schema, value, "body");
  } catch (error) {
    throw error instanceof InvalidRequestError ? toError(error.issues) : error;
  }
}

/** Describes issues in one line, each with its field as `nameField` writes it. */
export function describeIssues(
  issues: readonly ValidationError[],
  nameField: (field: string) => string = (field) => field,
): string {
  return issues.map((issue) => `${nameField(issue.loc.slice(1).join("."))}: ${said(issue)}`).join("; ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidLineError("the line is not JSON");
  }
}

/** What is written for one line of an input file. */
export interface OutputLine extends Record<string, unknown> {
  /** The input line's number, from 1. */
  line: number;
  /** Hash of the input line's text: tells a later run whether the line has changed. */
  digest: string;
  error?: { category: string; detail: string };
}

/** Detects changed lines; it need not resist attacks. */
function digestOf(text: string): string {
  return Bun.hash(text).toString(16);
}

function lineId(number: number, digest: string): string {
  return `${number}:${digest}`;
}

interface FinishedLinesOptions<Line extends OutputLine> {
  /** Ids of the input's lines. */
  inputIds: ReadonlySet<string>;
  /** What the lines contain, in the plural. */
  noun: string;
  isFinished(line: OutputLine): line is Line;
}

/**
 * Reads the output of an earlier run and keeps only finished lines whose input line still exists, so that lines that failed, were
 * cut off or have changed are processed again and the file ends up with each input line once.
 */
async function keepFinishedLines<Line extends OutputLine>(
  path: string,
  { inputIds, noun, isFinished }: FinishedLinesOptions<Line>,
): Promise<Map<string, Line>> {
  const finished = new Map<string, Line>();
  if (!existsSync(path)) return finished;
  await refuseForeignFile(path, noun);
  const keep = async (partial: string) => {
    const file = await open(partial, "w");
    try {
      for await (const { text } of readLines(path)) {
        const line = parse(text);
        if (line === undefined || !isFinished(line)) continue;
        const id = lineId(line.line, line.digest);
        if (!inputIds.has(id) || finished.has(id)) continue;
        finished.set(id, line);
        await file.appendFile(`${text}\n`);
      }
    } finally {
      await file.close();
    }
  };
  await replaceFile(path, keep, { isShared: true });
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

export function parse(text: string): OutputLine | undefined {
  try {
    return JSON.parse(text) as OutputLine;
  } catch {
    return undefined;
  }
}

export interface ProcessLinesOptions<Line extends OutputLine> {
  file: string;
  output: Output;
  /** Maximum lines in progress. */
  concurrency: number;
  /** What the output lines contain, in the plural: "predictions". */
  noun: string;
  /** Whether a line that an earlier run wrote need not be processed again. */
  isFinished(line: OutputLine): line is Line;
  /** Rejects only if no further line can succeed; otherwise a failure is a line like any other. */
  process(input: NumberedLine, digest: string): Promise<Line>;
  /** Receives the lines of this run and of earlier ones, in the input's order. */
  onLine(line: Line): void;
}

export interface Progress {
  /** Lines that this run processed; earlier runs finished the rest. */
  processed: number;
  elapsedMs: number;
}

/** Processes each line of a file and writes the outcomes in the file's order. A later run resumes where this one stopped. */
export async function processLines<Line extends OutputLine>({
  file,
  output,
  concurrency,
  noun,
  isFinished,
  process: processLine,
  onLine,
}: ProcessLinesOptions<Line>): Promise<Progress> {
  const inputIds = await readIds(file);
  const path = typeof output === "object" ? output.path : undefined;
  const finished =
    path === undefined
      ? new Map<string, Line>()
      : await keepFinishedLines(path, { inputIds, noun, isFinished });
  const write = (line: Line) => {
    if (path !== undefined) appendFileSync(path, `${JSON.stringify(line)}\n`);
    else if (output === "stdout") process.stdout.write(`${printableJson(line)}\n`);
  };
  const sharesTerminal = output === "stdout" && process.stdout.isTTY;
  const bar = sharesTerminal ? undefined : startProgressBar(inputIds.size, noun);
  const startedAtMs = performance.now();
  let processed = 0;
  /** Finished lines of this run that wait for an earlier line to be written. They may have cost money. */
  const waiting = new Set<Line>();
  const end = () => {
    // The bar changes the terminal's settings, and `stop` restores them.
    bar?.stop();
    for (const line of waiting) write(line);
    waiting.clear();
  };
  const stopListening = onSignals(() => {
    end();
    const how = path === undefined ? "With --out FILE, the command could resume" : "The same command resumes";
    printNotice(`Stopped. ${how} where it stopped.`);
    process.exit(interruptedExitCode);
  });

  const lines = pMapIterable(
    readLines(file),
    async (input) => {
      const digest = digestOf(input.text);
      const earlier = finished.get(lineId(input.number, digest));
      if (earlier !== undefined) return earlier;
      const line = await processLine(input, digest);
      waiting.add(line);
      return line;
    },
    { concurrency, backpressure: concurrency * 4 },
  );
  try {
    for await (const line of lines) {
      if (waiting.delete(line)) {
        write(line);
        processed += 1;
      }
      onLine(line);
      bar?.increment();
    }
  } finally {
    stopListening();
    end();
  }
  return { processed, elapsedMs: performance.now() - startedAtMs };
}

async function readIds(file: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { number, text } of readLines(file)) ids.add(lineId(number, digestOf(text)));
  return ids;
}

/** Shows a progress bar if standard error is a terminal. */
function startProgressBar(total: number, noun: string): SingleBar | undefined {
  if (!process.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: `{bar} {value}/{total} ${noun}, {eta_formatted} left`,
    etaBuffer: 100,
  });
  bar.start(total, 0);
  return bar;
}

const maxReasons = 3;
const maxCharacters = 300;
const maxNames = 2;

/** Counts each line once; lines are added in order. */
interface LineCount {
  lastLine: number;
  lines: number;
}

interface Reason extends LineCount {
  firstLine: number;
  evaluators: Set<string>;
}

/** The first few distinct reasons why lines failed. */
export function collectFailureReasons() {
  const reasons = new Map<string, Reason>();
  const others: LineCount = { lastLine: 0, lines: 0 };
  return {
    /** Lines are added in order; a line may fail for several reasons, and several evaluators for the same reason. */
    add(line: number, text: string, evaluator?: string): void {
      const reason = reasons.get(text) ?? { firstLine: line, lastLine: 0, lines: 0, evaluators: new Set() };
      if (reasons.size < maxReasons) reasons.set(text, reason);
      count(reasons.has(text) ? reason : others, line);
      if (evaluator !== undefined) reason.evaluators.add(evaluator);
    },
    /** A line for each, or none if nothing failed. */
    describe(): string[] {
      const described = [...reasons].map(([text, { firstLine, lines, evaluators }]) => {
        const more = lines === 1 ? "" : ` (and ${countOf(lines - 1, "more line")})`;
        return `  line ${firstLine}: ${short(nameEvaluators(evaluators) + text)}${more}`;
      });
      const rest = others.lines === 0 ? [] : [`  and ${countOf(others.lines, "line")} for other reasons`];
      return described.length === 0 ? [] : ["Failures:", ...described, ...rest];
    },
  };
}

function count(of: LineCount, line: number): void {
  if (of.lastLine === line) return;
  of.lastLine = line;
  of.lines += 1;
}

function nameEvaluators(evaluators: ReadonlySet<string>): string {
  if (evaluators.size === 0) return "";
  const named = [...evaluators].slice(0, maxNames).join(", ");
  const unnamed = evaluators.size - maxNames;
  return unnamed <= 0 ? `${named}: ` : `${named}, and ${countOf(unnamed, "other evaluator")}: `;
}

function short(reason: string): string {
  return shortened(printable(reason.trim().replaceAll(/\s+/g, " ")), maxCharacters);
}
