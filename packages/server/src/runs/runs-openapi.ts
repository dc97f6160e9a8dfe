import {
  Run,
  RunCreateRequest,
  RunEvaluatorsRequest,
  RunExportLine,
  RunListQuery,
  RunListResponse,
  RunPath,
  RunPredictionLine,
  type RunSample,
  RunSampleListQuery,
  RunSampleListResponse,
  RunUpload,
} from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  page,
  response,
} from "../http/describe.ts";
import { exampleFinishedRun } from "./report/report-route.ts";

const tag = "runs";
const conflict = (description: string, detail: string) => ({ "409": errorResponse(description, detail) });
const requestParams = { path: RunPath };

/** One event of the stream. */
const RunEvent = z
  .object({
    event: z.literal("run").meta({ description: "The kind of event." }),
    id: z.string().meta({ description: "To continue from here, as `Last-Event-ID`." }),
    data: z.string().meta({
      contentMediaType: "application/json",
      contentSchema: { $ref: "#/components/schemas/Run" },
      description: "The run.",
    }),
  })
  .meta({ id: "RunEvent", description: "One event of the stream." });

const exampleRun: Run = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  name: "sandbox, teacher-forced",
  status: "running",
  status_reason: null,
  progress: { ...exampleFinishedRun.progress, predicted: 120, evaluated: 112 },
  dataset_id: "019aa5f4-2c61-7000-b5a7-41d27c0c9e33",
  revision: 1,
  target: { deployment: "sandbox" },
  params: { temperature: 0 },
  mode: "teacher-forced",
  evaluators: [
    {
      evaluator: "exact-match-2026-11-21",
      profile_name: "system:default",
      profile_id: "7a2c3b1e-5d7f-5c0a-9a44-0b8f7a6d2e10",
      profile_revision: 1,
    },
  ],
  repeats: 1,
  concurrency: 16,
  tags: null,
  provenance: {
    presage_version: "0.1.0",
    prompt_version: "1",
    dataset_digest: "5e0e4cb1d3ab5ae1b3d7a0e1d1a8f5f3f0cf9f0d41d6b8cbb06f1c4b7b0f2a91",
    models: ["presage-sandbox"],
    in_sample: false,
  },
  notes: [],
  created_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  created_at: "2026-11-22T03:50:11.102Z",
  started_at: "2026-11-22T03:50:11.150Z",
  finished_at: null,
};
const exampleSample: RunSample = {
  dataset_sample_id: "kitchen-1/0",
  trajectory_id: "kitchen-1",
  step: 0,
  repeat: 0,
  changes: 1,
  verb: "open",
  prediction: {
    id: "019aa5f7-0b52-7000-a6c4-51a7d80c2f19",
    status: "success",
    error_category: null,
    finish_reason: "stop",
    usage: { prompt_tokens: 34, completion_tokens: 9 },
    latency_ms: 412.5,
  },
  verdicts: [
    {
      evaluator: "exact-match-2026-11-21",
      profile_name: "system:default",
      status: "success",
      pass: true,
      score: 1,
      evaluation_result_id: "1042",
    },
  ],
};
const { prediction: exampleDetails, ...exampleRest } = exampleSample;
const exampleLine: RunExportLine = {
  ...exampleRest,
  prediction: "The fridge is open.",
  reasoning: null,
  error_message: null,
  details: exampleDetails,
};
const exampleRequest = {
  dataset_id: exampleRun.dataset_id ?? "",
  target: { deployment: "sandbox" },
  params: { temperature: 0 },
  evaluators: [{ evaluator: "exact-match" }],
};

function changing(id: string, summary: string, description: string, refused: string) {
  return {
    post: operation(id, tag, summary, {
      description,
      requestParams,
      responses: {
        "200": response("The run", Run, exampleRun),
        ...noSuch("run"),
        ...conflict("The run has ended, or its target is external", refused),
      },
    }),
  };
}

export const runPaths: ZodOpenApiPathsObject = {
  "/v1/runs": {
    get: operation("listRuns", tag, "List the account's runs", {
      description:
        "Returns the runs of the account, newest first. Experiments that clients make are among them, with the target `external`.",
      requestParams: { query: RunListQuery },
      responses: {
        "200": response("The runs, newest first", RunListResponse, page(exampleRun)),
      },
    }),
    post: operation("createRun", tag, "Predict and evaluate a dataset", {
      description:
        "Has a deployment or a baseline predict every sample of a dataset's revision, and evaluators judge the predictions. Each verdict is also an evaluation result.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(RunCreateRequest, exampleRequest),
      responses: {
        "201": response("The run, which starts soon", Run, exampleRun),
      },
    }),
  },
  "/v1/runs/{id}": {
    get: operation("getRun", tag, "Get one run", {
      description: "Returns the run with its progress.",
      requestParams,
      responses: { "200": response("The run", Run, exampleRun), ...noSuch("run") },
    }),
    delete: operation("deleteRun", tag, "Delete a run", {
      description: "Deletes the run with its predictions. Its evaluation results stay.",
      requestParams,
      responses: { "204": { description: "Deleted" }, ...noSuch("run") },
    }),
  },
  "/v1/runs/{id}/events": {
    get: operation("streamRun", tag, "Follow a run", {
      description:
        "Streams the run as server-sent events named `run`: its current state, then every change until it ends. With `Last-Event-ID`, a known state is not sent again. A comment every 10 seconds keeps the connection open.",
      requestParams: {
        ...requestParams,
        header: z.object({
          "last-event-id": z.string().optional().meta({ description: "The id of the last event received." }),
        }),
      },
      responses: {
        "200": {
          description: "The events",
          content: {
            "text/event-stream": {
              schema: RunEvent,
              example: { event: "run", id: "2k9x1c7", data: JSON.stringify(exampleRun) },
            },
          },
        },
        ...noSuch("run"),
        "429": errorResponse(
          "The user has 10 streams open",
          "A user may have at most 10 streams of events open. Close one, and try again.",
        ),
      },
    }),
  },
  "/v1/runs/{id}/samples": {
    get: operation("listRunSamples", tag, "List a run's predictions", {
      description:
        "Returns the predictions of a run with the verdicts of all its evaluators, page by page: in the order of the dataset, or sorted by a figure.",
      requestParams: { ...requestParams, query: RunSampleListQuery },
      responses: {
        "200": response("The predictions, without their texts", RunSampleListResponse, page(exampleSample)),
        ...noSuch("run"),
        ...conflict("The run's target is external", "The run's target is external."),
      },
    }),
  },
  "/v1/runs/{id}/predictions": {
    post: operation("uploadRunPredictions", tag, "Upload the predictions of a run", {
      description:
        "For a run whose target is imported: stores its predictions as they arrive, and then starts it. They are uploaded once. If a line is invalid, none is stored, and they can be uploaded again. Samples without a line count as failed.",
      requestParams,
      requestBody: {
        required: true,
        description: "One JSON object a line; gzip is allowed.",
        content: {
          "application/x-ndjson": {
            schema: RunPredictionLine,
            example: { dataset_sample_id: "kitchen-1/0", prediction: "The fridge is open." },
          },
        },
      },
      responses: {
        "200": response("They are stored, and the run has started", RunUpload, { predictions: 394 }),
        ...noSuch("run"),
        ...conflict(
          "The run makes its predictions itself, has them already, or another upload is in progress",
          "The run makes its predictions itself; none can be uploaded.",
        ),
        "413": errorResponse(
          "The upload is larger than PRESAGE_MAX_DATASET_BYTES, or 200 times as long as its gzip",
          "The upload is larger than 1073741824 bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.",
        ),
        "507": errorResponse(
          "The disk of the database has less room than PRESAGE_MIN_FREE_DISK_BYTES",
          "The database's disk has 734003200 bytes free, and uploads and runs leave 1073741824 (PRESAGE_MIN_FREE_DISK_BYTES).",
        ),
      },
    }),
  },
  "/v1/runs/{id}/export": {
    get: operation("exportRun", tag, "Export a run's predictions", {
      description:
        "Returns all predictions with their texts and verdicts as JSON lines, in the order of the dataset. They can be imported into another run.",
      requestParams,
      responses: {
        "200": {
          description: "The predictions, one a line",
          content: { "application/x-ndjson": { schema: RunExportLine, example: exampleLine } },
        },
        ...noSuch("run"),
        ...conflict("The run's target is external", "The run's target is external."),
      },
    }),
  },
  "/v1/runs/{id}/evaluators": {
    post: operation("addRunEvaluators", tag, "Have a run judged by more evaluators", {
      description: "The new evaluators judge existing and future predictions. No prediction is repeated.",
      requestParams,
      requestBody: body(RunEvaluatorsRequest, { evaluators: [{ evaluator: "state-change" }] }),
      responses: {
        "200": response("The run, which resumes if it was finished", Run, exampleRun),
        ...noSuch("run"),
        ...conflict(
          "The run was cancelled, or has too many evaluators",
          "A run may have at most 20 evaluators.",
        ),
      },
    }),
  },
  "/v1/runs/{id}/cancel": changing(
    "cancelRun",
    "Cancel a run",
    "Stops the run permanently and keeps its results. Cancelling again changes nothing. An external run is only marked.",
    "The run is finished and cannot be cancelled.",
  ),
  "/v1/runs/{id}/pause": changing(
    "pauseRun",
    "Pause a run",
    "Stops the run until it is resumed.",
    "The run is finished and cannot be paused.",
  ),
  "/v1/runs/{id}/resume": changing(
    "resumeRun",
    "Resume a run",
    "Continues a paused run where it stopped. If its deployment failed, it is tried again at once.",
    "The run is finished and cannot be resumed.",
  ),
  "/v1/runs/{id}/finish": changing(
    "finishRun",
    "Finish a run without what is missing",
    "Ends a paused run: predictions that are missing count as failed, and those there are evaluated.",
    "The run is cancelled and cannot be finished.",
  ),
};
