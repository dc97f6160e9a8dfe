import {
  DatasetExportQuery,
  DatasetLine,
  DatasetPath,
  DatasetSample,
  EpisodeExportQuery,
  PredictionExportQuery,
  RunExportLine,
  RunExportQuery,
  RunPath,
} from "@presage/contract";
import Negotiator from "negotiator";
import { noSuchRevision } from "../datasets/datasets-route.ts";
import examples from "../datasets/examples.json" with { type: "json" };
import { type CallWithCaller, keepOpenForEach } from "../http/call.ts";
import { errorResponse, noSuch } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { reservePiece } from "../http/memory.ts";
import { logBrokenResponse, streamTexts } from "../http/response.ts";
import { route } from "../http/route.ts";
import type { Store } from "../platform/storage/store.ts";
import type { PromptServices } from "../predictions/stored-predictions.ts";
import runExamples from "../runs/examples.json" with { type: "json" };
import { externalTarget } from "../runs/run-samples.ts";
import type { FindNeeds } from "../runs/runs.ts";
import {
  type Export,
  exportDataset,
  exportEpisodes,
  exportPredictions,
  exportRun,
  piecesOf,
} from "./exports.ts";

type LogServices = Pick<HttpServices, "log">;
type ExportServices = LogServices & { store: Store };

const count = "`x-presage-count` says of how many samples, predictions or episodes it is made.";

export const exportDatasetRoute = route("GET", "/v1/datasets/:id/export", {
  needs: "read",
  id: "exportDataset",
  summary: "Export a revision",
  description: `Returns all samples of a revision as JSON lines, in the order of the upload. Their SHA-256 is the revision's digest, and an upload of them to any Presage makes a revision with the same digest. In other formats a line is a trajectory, in the order of their ids; what \`atif\` and \`openai-chat\` do not say of the samples is in \`extra.presage\`, so that an import has them again. ${count}`,
  params: DatasetPath,
  query: DatasetExportQuery,
  responses: {
    "200": {
      description: "One sample or trajectory a line",
      content: { "application/x-ndjson": { schema: DatasetSample, example: examples.sample } },
    },
    ...noSuchRevision,
  },
  async handle(services: ExportServices, { call, requester, params: { id }, query }) {
    const number = query.revision === undefined ? undefined : Number(query.revision);
    return await send(
      services,
      call,
      "dataset",
      await exportDataset(services, requester, { id, number }, query),
    );
  },
});

export const exportRunRoute = route("GET", "/v1/runs/:id/export", {
  needs: "read",
  id: "exportRun",
  summary: "Export a run's predictions",
  description: `Returns all predictions with their texts and verdicts as JSON lines, in the order of the dataset. They can be imported into another run. Other formats have the trajectories as they were predicted, with scores as rewards and without what failed, or pairs of predictions to train on. \`inspect\` is a log that \`inspect view\` shows: a sample for each prediction, with the scores by evaluator. ${count}`,
  params: RunPath,
  query: RunExportQuery,
  responses: {
    "200": {
      description: "One prediction, trajectory or pair a line; of `inspect` a log, `run.eval`",
      content: {
        "application/x-ndjson": { schema: RunExportLine, example: runExamples.line },
        "application/zip": { schema: { type: "string", format: "binary" }, example: "PK…" },
      },
    },
    ...noSuch("run"),
    ...externalTarget,
  },
  async handle(services: FindNeeds & LogServices, { call, requester, params, query }) {
    return await send(services, call, "run", await exportRun(services, requester, params.id, query));
  },
});

export const exportEpisodesRoute = route("GET", "/v1/episodes/export", {
  needs: "read",
  id: "exportEpisodes",
  summary: "Export episodes",
  description: `Returns the steps of the episodes that match, oldest first, as lines of a dataset, or a line for each episode in another format. ${count}`,
  query: EpisodeExportQuery,
  responses: {
    "200": {
      description: "One step or episode a line",
      content: { "application/x-ndjson": { schema: DatasetLine, example: examples.line } },
    },
    ...noSuch("environment"),
    "409": errorResponse(
      "A conversation has more messages than a sample can have",
      "The episode 01a2 is a conversation of more than 1000 messages, which no sample can have. Leave it out.",
    ),
  },
  async handle(services: ExportServices, { call, requester, query }) {
    return await send(services, call, "episodes", await exportEpisodes(services, requester, query));
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
      description: "One prediction a line",
      content: { "application/x-ndjson": { schema: {}, example: { resourceSpans: [] } } },
    },
  },
  async handle(services: PromptServices & LogServices, { call, requester, query }) {
    return await send(services, call, "predictions", await exportPredictions(services, requester, query));
  },
});

/** Sends what is made as it is made; lines are compressed if the client takes it. */
async function send(services: LogServices, call: CallWithCaller, name: string, exported: Export) {
  reservePiece(call.exchange);
  const pieces = keepOpenForEach(call, piecesOf(exported));
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
