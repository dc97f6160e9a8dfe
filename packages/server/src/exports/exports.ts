import {
  type DatasetExportQuery,
  type DatasetLine,
  type DatasetSample,
  type EpisodeExportQuery,
  type ExportFormat,
  isTrueWord,
  type PredictionExportQuery,
  type RunExportQuery,
} from "@presage/contract";
import { findRevision, type WantedRevision } from "../datasets/datasets.ts";
import { exportSamples, readByTrajectory } from "../datasets/samples.ts";
import { exactJson } from "../datasets/traces/documents/exact-json.ts";
import { createRedactor, type Redactor } from "../datasets/traces/redaction/redact.ts";
import { countEpisodes } from "../environments/episodes/episode.ts";
import { readEpisodes } from "../environments/episodes/episode-lines.ts";
import { readEpisodeFilter } from "../environments/episodes/episodes-route.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type PromptServices, readDetails } from "../predictions/stored-predictions.ts";
import { readPredictionFilter } from "../predictions/stored-predictions-route.ts";
import { countPredictions } from "../predictions/stored-predictions-store.ts";
import { readPredictions, withDataset } from "../runs/run-samples.ts";
import { type FindNeeds, findRun } from "../runs/runs.ts";
import { inspectLog } from "./inspect.ts";
import { predictionToOtlp, trajectoryToOtlp } from "./otel.ts";
import { readPairs, readPredicted, scorerOf, trajectoriesOf } from "./predicted.ts";
import { type Trajectory, toAtif, toOpenAiChat, toSft, toShareGpt } from "./trajectories.ts";

/** A file that is made as it is read. */
export type Export = {
  /** How many samples, predictions or episodes it is made of. */
  count: number | undefined;
} & (
  | {
      /** Values that become a line each, some at a time. A text is a line already. */
      lines: AsyncIterable<readonly (object | string)[]>;
    }
  | { zip: AsyncGenerator<Uint8Array, void> }
);

type Writing = Pick<
  DatasetExportQuery,
  "version" | "content" | "direction" | "only" | "min_reward" | "loss" | "redact"
>;

/** A revision of a dataset as a file. */
export async function exportDataset(
  services: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
  { format = "presage", ...writing }: DatasetExportQuery,
): Promise<Export> {
  const { samples: count } = await findRevision(services, requester, wanted);
  if (format !== "presage") {
    const samples = readByTrajectory(services, requester, wanted);
    return { count, lines: written(grouped(samples), format, writing) };
  }
  const lines = await exportSamples(services, requester, wanted);
  const { redact = "none" } = writing;
  if (redact === "none") return { count, lines };
  return {
    count,
    lines: redacted(
      mapped(lines, (line) => JSON.parse(line)),
      createRedactor(redact),
    ),
  };
}

/** Episodes as a file. */
export async function exportEpisodes(
  services: { store: Store },
  requester: Requester,
  { format = "presage", ...query }: EpisodeExportQuery,
): Promise<Export> {
  const wanted = readEpisodeFilter(query);
  const count = await countEpisodes(services, requester, wanted);
  const lines = readEpisodes(services, requester, wanted);
  if (format === "presage") return { count, lines: redacted(lines, createRedactor(query.redact ?? "none")) };
  return { count, lines: written(grouped(mapped(lines, toSample)), format, query) };
}

/** The predictions of a run as a file: lines with their verdicts, pairs, a log, or trajectories as they were predicted. */
export async function exportRun(
  services: FindNeeds,
  requester: Requester,
  id: string,
  { format = "presage", ...query }: RunExportQuery,
): Promise<Export> {
  const run = withDataset(await findRun(services, requester, id));
  const count = run.counts.predicted ?? undefined;
  if (format === "presage") {
    const lines = readPredictions(services, requester, run);
    return { count, lines: redacted(lines, createRedactor(query.redact ?? "none")) };
  }
  const redactor = createRedactor(query.redact ?? "default");
  if (format === "preference")
    return { count, lines: redacted(await readPairs(services, requester, run, query), redactor) };
  if (format === "inspect") return { count, zip: inspectLog(services, requester, run, redactor) };
  const predicted = readPredicted(services, requester, [run]);
  return { count, lines: written(trajectoriesOf(predicted, run, scorerOf(run, query)), format, query) };
}

/** A file's pieces: some lines at a time, or some of its bytes. */
export async function* piecesOf(exported: Export): AsyncGenerator<string | Uint8Array, void> {
  if ("zip" in exported) return yield* exported.zip;
  for await (const piece of exported.lines)
    yield piece.map((line) => `${typeof line === "string" ? line : exactJson(line)}\n`).join("");
}

function toSample(line: DatasetLine): DatasetSample {
  const given = Object.entries(line).filter(([, value]) => value !== null && value !== undefined);
  // A line of Presage's own.
  return {
    dataset_sample_id: `${line.trajectory_id}/${line.step}`,
    ...Object.fromEntries(given),
  } as DatasetSample;
}

/** Stored predictions as the spans of chats, newest first. */
export async function exportPredictions(
  services: PromptServices,
  requester: Requester,
  { format: _, content = "false", redact = "default", ...query }: PredictionExportQuery,
): Promise<Export> {
  const filter = readPredictionFilter(query);
  const reader = services.store.briefReader(requester);
  const count = await countPredictions(reader, requester.accountId, filter, Number.MAX_SAFE_INTEGER);
  const details = readDetails(services, requester, filter, { withTexts: isTrueWord(content) });
  return { count, lines: mapped(redacted(details, createRedactor(redact)), predictionToOtlp) };
}

/** Trajectories in a format, without secrets. */
async function* written(
  trajectories: AsyncIterable<Trajectory>,
  format: Exclude<ExportFormat, "presage">,
  writing: Writing,
): AsyncGenerator<object[], void> {
  const redactor = createRedactor(writing.redact ?? "default");
  const write = writerOf(format, writing);
  for await (const trajectory of trajectories) {
    const document = write(redactor.redactValue(trajectory));
    if (document !== undefined) yield [document];
  }
}

function writerOf(
  format: Exclude<ExportFormat, "presage">,
  { version = "1.7", content = "false", direction = "world", only, min_reward, loss = "false" }: Writing,
): (trajectory: Trajectory) => object | undefined {
  switch (format) {
    case "atif":
      return (trajectory) => toAtif(trajectory, version);
    case "openai-chat":
      return toOpenAiChat;
    case "sharegpt":
      return toShareGpt;
    case "otel-genai":
      return (trajectory) => trajectoryToOtlp(trajectory, { content: isTrueWord(content) });
    case "sft": {
      const minReward = min_reward === undefined ? undefined : Number(min_reward);
      const options = { direction, onlySuccess: only === "success", minReward, marksLoss: isTrueWord(loss) };
      return (trajectory) => toSft(trajectory, options);
    }
  }
}

/** The trajectories of samples that come one trajectory after the other. */
async function* grouped(pieces: AsyncIterable<readonly DatasetSample[]>): AsyncGenerator<Trajectory, void> {
  let samples: DatasetSample[] = [];
  for await (const piece of pieces)
    for (const sample of piece) {
      const id = samples[0]?.trajectory_id;
      if (id !== undefined && id !== sample.trajectory_id) {
        yield { id, samples };
        samples = [];
      }
      samples.push(sample);
    }
  const id = samples[0]?.trajectory_id;
  if (id !== undefined) yield { id, samples };
}

async function* mapped<From, To>(
  pieces: AsyncIterable<Iterable<From>>,
  change: (one: From) => To,
): AsyncGenerator<To[], void> {
  for await (const piece of pieces) yield Array.from(piece, change);
}

function redacted<Line extends object>(lines: AsyncIterable<Iterable<Line>>, redactor: Redactor) {
  return mapped(lines, (line) => redactor.redactValue(line));
}
