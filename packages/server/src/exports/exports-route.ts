import { setImmediate as nextTurn } from "node:timers/promises";
import {
  DatasetExportQuery,
  DatasetLine,
  DatasetPath,
  DatasetSample,
  EpisodeExportQuery,
  type ExportFormat,
  formatsOfOption,
  isTrueWord,
  PredictionExportQuery,
  RunExportLine,
  RunExportQuery,
  RunPath,
} from "@presage/contract";
import Negotiator from "negotiator";
import { findRevision, type WantedRevision } from "../datasets/datasets.ts";
import { noSuchRevision } from "../datasets/datasets-route.ts";
import examples from "../datasets/examples.json" with { type: "json" };
import { exportSamples, readByTrajectory } from "../datasets/samples.ts";
import { createRedactor, type Redactor } from "../datasets/traces/redaction/redact.ts";
import { countEpisodes } from "../environments/episodes/episode.ts";
import { readEpisodes } from "../environments/episodes/episode-lines.ts";
import { readEpisodeFilter } from "../environments/episodes/episodes-route.ts";
import { type CallWithCaller, keepOpenForEach } from "../http/call.ts";
import { errorResponse, noSuch } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { reserveHeld, reservePiece } from "../http/memory.ts";
import { logBrokenResponse, streamTexts } from "../http/response.ts";
import { route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Holder, reserveBytesAnyway } from "../platform/limits/memory.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { jsonAsWritten } from "../platform/written-json.ts";
import { type PromptServices, readDetails } from "../predictions/stored-predictions.ts";
import { readPredictionFilter } from "../predictions/stored-predictions-route.ts";
import { countPredictions } from "../predictions/stored-predictions-store.ts";
import runExamples from "../runs/examples.json" with { type: "json" };
import { externalTarget, readPredictions, withDataset } from "../runs/run-samples.ts";
import { type FindNeeds, findRun } from "../runs/runs.ts";
import { inspectLog } from "./inspect.ts";
import { predictionToOtlp, trajectoryToOtlp } from "./otel.ts";
import { judgeOf, readPairs, readPredicted, trajectoriesOf } from "./predicted.ts";
import { type Trajectory, toAtif, toOpenAiChat, toSft, toShareGpt } from "./trajectories.ts";

/** A file that is produced while it is read. */
type Export = {
  /** How many samples, predictions or episodes the file contains. */
  count: number | undefined;
} & (
  | {
      /** Values that become a line each, in batches. A string is a complete line already. */
      lines: AsyncIterable<readonly (object | string)[]>;
    }
  | { zip: AsyncGenerator<Uint8Array, void> }
);

type Writing = Pick<
  DatasetExportQuery,
  "version" | "content" | "direction" | "only" | "min_reward" | "loss" | "redact"
>;

/** Throws an `InvalidRequestError` for options that do not affect the format. */
function checkOptions(query: DatasetExportQuery | RunExportQuery | EpisodeExportQuery): void {
  const { format = "presage" } = query;
  const issues = Object.entries(query).flatMap(([name, value]) => {
    const formats = formatsOfOption[name];
    if (value === undefined || formats === undefined || formats.includes(format)) return [];
    return [
      valueError(
        ["query", name],
        `It has no effect with format=${format}, only with ${formats.join(", ")}`,
        value,
      ),
    ];
  });
  if ("profile_name" in query && query.profile_name !== undefined && query.evaluator === undefined)
    issues.push(valueError(["query", "profile_name"], "It needs `evaluator`", query.profile_name));
  if (issues.length > 0) throw new InvalidRequestError(issues);
}

/** A revision of a dataset as a file. */
async function exportDataset(
  services: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
  { format = "presage", ...writing }: DatasetExportQuery,
  hold: Hold,
): Promise<Export> {
  const { samples: count } = await findRevision(services, requester, wanted);
  if (format !== "presage") {
    const samples = readByTrajectory(services, requester, wanted, hold);
    return { count, lines: written(grouped(samples), format, writing, hold) };
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
async function exportEpisodes(
  services: { store: Store },
  requester: Requester,
  { format = "presage", ...query }: EpisodeExportQuery,
  hold: Hold,
): Promise<Export> {
  const wanted = readEpisodeFilter(query);
  const count = await countEpisodes(services, requester, wanted);
  const isAgents = format === "sft" && query.direction === "agent";
  const lines = readEpisodes(services, requester, wanted, isAgents ? "agent" : "model");
  if (format === "presage") return { count, lines: redacted(lines, createRedactor(query.redact ?? "none")) };
  return { count, lines: written(grouped(mapped(lines, toSample)), format, query, hold) };
}

/** A run's predictions as a file: lines with verdicts, pairs, a log, or the predicted trajectories. */
async function exportRun(
  services: FindNeeds,
  requester: Requester,
  id: string,
  { format = "presage", ...query }: RunExportQuery,
  hold: Hold,
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
  const predicted = readPredicted(services, requester, [run], hold);
  const trajectories = trajectoriesOf(predicted, run, judgeOf(run, query));
  return { count, lines: written(trajectories, format, query, hold) };
}

/** A file's pieces: a batch of lines or of bytes. */
async function* piecesOf(exported: Export, holder: Holder): AsyncGenerator<string | Uint8Array, void> {
  try {
    if ("zip" in exported) return yield* exported.zip;
    for await (const piece of exported.lines)
      yield piece.map((line) => `${typeof line === "string" ? line : jsonAsWritten(line)}\n`).join("");
  } finally {
    // Releases the memory even if the client left while more was reserved.
    reserveBytesAnyway(holder, 0);
  }
}

function toSample(line: DatasetLine): DatasetSample {
  const given = Object.entries(line).filter(([, value]) => value !== null && value !== undefined);
  // The cast holds: lines in Presage's own form have these fields.
  return {
    dataset_sample_id: `${line.trajectory_id}/${line.step}`,
    ...Object.fromEntries(given),
  } as DatasetSample;
}

/** Stored predictions as chat spans, newest first. */
async function exportPredictions(
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

/** Trajectories in a format, with secrets removed. */
async function* written(
  trajectories: AsyncIterable<Trajectory>,
  format: Exclude<ExportFormat, "presage">,
  writing: Writing,
  hold: Hold,
): AsyncGenerator<object[], void> {
  const redactor = createRedactor(writing.redact ?? "default");
  const write = writerOf(format, writing);
  for await (const { id, samples, ...rest } of trajectories) {
    // These formats write all messages of each sample.
    const characters = charactersOfMessages(samples);
    if (characters > 0 && (format === "atif" || format === "openai-chat")) hold(characters);
    const texts = new Map<string, string>();
    const clean: DatasetSample[] = [];
    for (const sample of samples) {
      clean.push(withoutSecrets(sample, redactor, texts));
      await nextTurn();
    }
    yield write({ ...rest, id: redactor.redact(id), samples: clean });
  }
}

function charactersOfMessages(samples: readonly DatasetSample[]): number {
  const messages = samples.flatMap((sample) => sample.messages ?? []);
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

/** Samples of a trajectory share most of their texts: `texts` caches the redacted form of each. */
function withoutSecrets(
  { messages, context, ...sample }: DatasetSample,
  redactor: Redactor,
  texts: Map<string, string>,
): DatasetSample {
  const clean = (text: string) => {
    const known = texts.get(text) ?? redactor.redact(text);
    texts.set(text, known);
    return known;
  };
  const told = messages?.map((message) => {
    const content = clean(message.content);
    return content === message.content ? message : { ...message, content };
  });
  const entries = Object.entries(context ?? {}).map(([name, text]) => [name, text && clean(text)]);
  return {
    ...redactor.redactValue(sample),
    ...(context && { context: Object.fromEntries(entries) }),
    ...(told && { messages: told }),
  };
}

function writerOf(
  format: Exclude<ExportFormat, "presage">,
  { version = "1.7", content = "false", direction = "world", only, min_reward, loss = "false" }: Writing,
): (trajectory: Trajectory) => object[] {
  switch (format) {
    case "atif":
      return (trajectory) => [toAtif(trajectory, version)];
    case "openai-chat":
      return (trajectory) => [toOpenAiChat(trajectory)];
    case "sharegpt":
      return (trajectory) => [toShareGpt(trajectory)];
    case "otel-genai":
      return (trajectory) => [trajectoryToOtlp(trajectory, { content: isTrueWord(content) })];
    case "sft": {
      const minReward = min_reward === undefined ? undefined : Number(min_reward);
      const options = { direction, onlySuccess: only === "success", minReward, marksLoss: isTrueWord(loss) };
      return (trajectory) => toSft(trajectory, options);
    }
  }
}

/** Groups samples into trajectories; each trajectory's samples are adjacent. */
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

/** Reserves memory for characters held in memory. */
type Hold = (characters: number) => void;

type LogServices = Pick<HttpServices, "log">;
type ExportServices = LogServices & { store: Store };

const count = "`x-presage-count` says of how many samples, predictions or episodes it is made.";

export const exportDatasetRoute = route("GET", "/v1/datasets/:id/export", {
  needs: "read",
  id: "exportDataset",
  summary: "Export a revision",
  description: `Returns all samples of a revision as JSON lines, in the order of the upload. Their SHA-256 is the revision's digest, and an upload of them to any Presage makes a revision with the same digest. In other formats each line is a trajectory, sorted by id; what \`atif\` and \`openai-chat\` cannot express is in \`extra.presage\`, so that an import restores the samples. ${count}`,
  params: DatasetPath,
  query: DatasetExportQuery,
  responses: {
    "200": {
      description: "One sample or trajectory per line",
      content: { "application/x-ndjson": { schema: DatasetSample, example: examples.sample } },
    },
    ...noSuchRevision,
  },
  async handle(services: ExportServices, { call, requester, params: { id }, query }) {
    checkOptions(query);
    const number = query.revision === undefined ? undefined : Number(query.revision);
    return await send(
      services,
      call,
      "dataset",
      await exportDataset(services, requester, { id, number }, query, holdFor(call)),
    );
  },
});

export const exportRunRoute = route("GET", "/v1/runs/:id/export", {
  needs: "read",
  id: "exportRun",
  summary: "Export a run's predictions",
  description: `Returns all predictions with their texts and verdicts as JSON lines, in the order of the dataset. They can be imported into another run. Other formats contain the predicted trajectories, with scores as rewards and without failed predictions, or pairs of predictions to train on. \`inspect\` is a log that \`inspect view\` shows: a sample for each prediction, with the scores by evaluator. ${count}`,
  params: RunPath,
  query: RunExportQuery,
  responses: {
    "200": {
      description: "One prediction, trajectory or pair per line; with `format=inspect` a log, `run.eval`",
      content: {
        "application/x-ndjson": { schema: RunExportLine, example: runExamples.line },
        "application/zip": { schema: { type: "string", format: "binary" }, example: "PK…" },
      },
    },
    ...noSuch("run"),
    ...externalTarget,
  },
  async handle(services: FindNeeds & LogServices, { call, requester, params, query }) {
    checkOptions(query);
    const exported = await exportRun(services, requester, params.id, query, holdFor(call));
    return await send(services, call, "run", exported);
  },
});

export const exportEpisodesRoute = route("GET", "/v1/episodes/export", {
  needs: "read",
  id: "exportEpisodes",
  summary: "Export episodes",
  description: `Returns the steps of the episodes that match, oldest first, as lines of a dataset, or in other formats as one line per episode. ${count}`,
  query: EpisodeExportQuery,
  responses: {
    "200": {
      description: "One step or episode per line",
      content: { "application/x-ndjson": { schema: DatasetLine, example: examples.line } },
    },
    ...noSuch("environment"),
    "409": errorResponse(
      "A conversation has more messages than a sample can have",
      "The episode 01a2 is a conversation of more than 1000 messages, which no sample can have. Leave it out.",
    ),
  },
  async handle(services: ExportServices, { call, requester, query }) {
    checkOptions(query);
    const exported = await exportEpisodes(services, requester, query, holdFor(call));
    return await send(services, call, "episodes", exported);
  },
});

export const exportPredictionsRoute = route("GET", "/v1/predictions/export", {
  needs: "read",
  id: "exportPredictions",
  summary: "Export stored predictions",
  description: `Returns the stored predictions that match, newest first, each as an \`ExportTraceServiceRequest\` of OTLP with the span of a chat. Texts only with \`content=true\`. ${count}`,
  query: PredictionExportQuery,
  responses: {
    "200": {
      description: "One prediction per line",
      content: { "application/x-ndjson": { schema: {}, example: { resourceSpans: [] } } },
    },
  },
  async handle(services: PromptServices & LogServices, { call, requester, query }) {
    return await send(services, call, "predictions", await exportPredictions(services, requester, query));
  },
});

function holdFor({ exchange }: CallWithCaller): Hold {
  return (characters) => reserveHeld(exchange, characters);
}

/** Sends a file while it is produced; lines are compressed if the client accepts that. */
async function send(services: LogServices, call: CallWithCaller, name: string, exported: Export) {
  reservePiece(call.exchange);
  const pieces = keepOpenForEach(call, piecesOf(exported, call.exchange));
  const body = await streamTexts(pieces, logBrokenResponse(services, call));
  const isLog = "zip" in exported;
  const isZipped = !isLog && acceptsGzip(call.request);
  return new Response(isZipped ? zipped(body) : body, {
    headers: {
      "content-type": isLog ? "application/zip" : "application/x-ndjson; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.${isLog ? "eval" : "jsonl"}"`,
      ...(!isLog && { vary: "accept-encoding" }),
      ...(isZipped && { "content-encoding": "gzip" }),
      ...(exported.count !== undefined && { "x-presage-count": String(exported.count) }),
    },
  });
}

function acceptsGzip({ headers }: Request): boolean {
  const negotiator = new Negotiator({
    headers: { "accept-encoding": headers.get("accept-encoding") ?? undefined },
  });
  return negotiator.encodings(["gzip", "identity"])[0] === "gzip";
}

function zipped(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return body.pipeThrough(new CompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>);
}
