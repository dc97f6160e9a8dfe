import type {
  ComparedSample,
  ComparedSampleListQuery,
  Comparison,
  EvaluatorReference,
  Goal,
  GoalRequest,
  Headline,
  HeadlineListResponse,
  ListedRun,
  Run,
  RunCalibration,
  RunCalibrationQuery,
  RunCreateRequest,
  RunExportQuery,
  RunListQuery,
  RunReport,
  RunSample,
  RunSampleListQuery,
  RunSampleListResponse,
  RunUpload,
  Share,
  ShareCreateRequest,
  ShareCreateResponse,
} from "@presage/contract";
import type { CallOptions, PageOptions, QueryOf, WriteOptions } from "../call.ts";
import { callsOf, type LinesOptions, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";
import { type WaitOptions, waitUntil } from "../wait-until.ts";
import type { DatasetLines } from "./datasets.ts";

/** Selects runs, by dataset, status and name. */
export type RunFilter = Pick<RunListQuery, "dataset_id" | "status" | "name">;

/** Which predictions of a run. `pass` needs `evaluator`. */
export interface RunSampleFilter
  extends Pick<
    RunSampleListQuery,
    "evaluator" | "profile_name" | "status" | "trajectory_id" | "dataset_sample_id"
  > {
  pass?: boolean | undefined;
  step?: number | undefined;
  /** Only samples whose state changed in the recording, or those whose state did not. */
  changed?: boolean | undefined;
}

/** The order of a run's predictions, and how much of their texts to return. An order by score needs an evaluator. */
export type RunSampleView = Pick<RunSampleListQuery, "order" | "order_evaluator" | "order_profile_name"> & {
  /** How many characters to return of each prediction, its action and its recorded next state; none if absent. */
  text_limit?: number | undefined;
};

/** Options of `uploadPredictions`. */
export type PredictionsUploadOptions = LinesOptions;

/** Runs: a dataset predicted and evaluated. */
export interface Runs extends RunReports {
  /** Creates a run, which begins soon: `POST /v1/runs`. */
  create(request: RunCreateRequest, options?: WriteOptions): Promise<Run>;
  /** Gets one run: `GET /v1/runs/{id}`. */
  get(id: string, options?: CallOptions): Promise<Run>;
  /** Lists all runs, newest first: `GET /v1/runs`. */
  list(filter?: RunFilter, options?: CallOptions): Promise<ListedRun[]>;
  /** Lists one page, newest first: `GET /v1/runs`. `next` is null on the last page. */
  listPage(
    filter?: RunFilter & { limit?: number | undefined; after?: string | undefined },
    options?: CallOptions,
  ): Promise<{ data: ListedRun[]; next: string | null }>;
  /** Gets the latest figures of each target and dataset, with baseline, goal and the previous run: `GET /v1/headlines`. */
  headlines(options?: CallOptions): Promise<Headline[]>;
  /** Ends a run; what it has done stays. Cancelling it again changes nothing: `POST /v1/runs/{id}/cancel`. */
  cancel(id: string, options?: CallOptions): Promise<Run>;
  /** Stops a run until it is resumed: `POST /v1/runs/{id}/pause`. */
  pause(id: string, options?: CallOptions): Promise<Run>;
  /** Lets a paused run continue: `POST /v1/runs/{id}/resume`. */
  resume(id: string, options?: CallOptions): Promise<Run>;
  /** Ends a paused run; predictions that are missing count as failed: `POST /v1/runs/{id}/finish`. */
  finish(id: string, options?: CallOptions): Promise<Run>;
  /** Deletes a run with its predictions and verdicts; evaluation results stay: `DELETE /v1/runs/{id}`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Has the run's predictions judged by more evaluators, or by those whose verdicts failed again; no prediction is made again: `POST /v1/runs/{id}/evaluators`. */
  addEvaluators(id: string, evaluators: readonly EvaluatorReference[], options?: CallOptions): Promise<Run>;
  /** Gets one page of the predictions with their verdicts: `GET /v1/runs/{id}/samples`. */
  pageOfSamples(
    id: string,
    filter?: RunSampleFilter & RunSampleView,
    options?: PageOptions,
  ): Promise<RunSampleListResponse>;
  /** Yields the predictions with their verdicts in the order of the dataset, page by page: `GET /v1/runs/{id}/samples`. */
  iterateSamples(
    id: string,
    filter?: RunSampleFilter,
    options?: CallOptions,
  ): AsyncGenerator<RunSample, void, undefined>;
  /** Yields all predictions with texts and verdicts, line by line as they arrive: `GET /v1/runs/{id}/export`. Throws if the export was cut off. */
  exportLines(id: string, options?: CallOptions): AsyncGenerator<string, void, undefined>;
  /** Yields the predictions as a file in the given format, as it arrives: `GET /v1/runs/{id}/export`. */
  export(
    id: string,
    query?: QueryOf<RunExportQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Uploads the predictions of a run whose target is `{"predictions": "imported"}`: `POST /v1/runs/{id}/predictions`. Set
   * `timeoutMs` for long ones. A wrong line is named in the error's `issues`, and nothing is kept.
   */
  uploadPredictions(id: string, lines: DatasetLines, options?: PredictionsUploadOptions): Promise<RunUpload>;
  /**
   * Waits until a run is finished, cancelled or failed, and returns it. A paused run has not ended: use `onProgress` or `signal` to
   * stop waiting. `timeoutMs` is the limit of each read.
   */
  waitUntilEnded(id: string, options?: WaitOptions<Run>): Promise<Run>;
}

const runsPath = "/v1/runs";
const runPath = pathsUnder(runsPath);

export function runs(transport: Transport): Runs {
  const { get, create, repeatable, remove, list, iterate, sendLines } = callsOf(transport);
  const exportOf = (id: string, query = {}) =>
    ({ method: "GET", path: runPath(id, "/export"), query }) as const;

  return {
    ...runReports(transport),
    create: (body, options) => create(runsPath, body, options),
    get: (id, options) => get(runPath(id), options),
    list: (filter, options) => list(runsPath, options, filter),
    headlines: async (options) => (await get<HeadlineListResponse>("/v1/headlines", options)).data,
    listPage: (filter, options) => get(runsPath, options, filter),
    cancel: (id, options) => repeatable("POST", runPath(id, "/cancel"), options),
    pause: (id, options) => repeatable("POST", runPath(id, "/pause"), options),
    resume: (id, options) => repeatable("POST", runPath(id, "/resume"), options),
    finish: (id, options) => repeatable("POST", runPath(id, "/finish"), options),
    delete: (id, options) => remove(runPath(id), options),
    addEvaluators: (id, evaluators, options) =>
      repeatable("POST", runPath(id, "/evaluators"), options, { evaluators }),
    pageOfSamples: (id, filter, { limit, after, ...options } = {}) =>
      get(runPath(id, "/samples"), options, { ...filter, limit, after }),
    iterateSamples: (id, filter, options) => iterate(runPath(id, "/samples"), options, filter),
    exportLines: (id, options) => transport.lines(exportOf(id), options),
    export: (id, query, options) => transport.chunks(exportOf(id, { ...query }), options),
    uploadPredictions: (id, lines, options) => sendLines(runPath(id, "/predictions"), lines, options),
    waitUntilEnded: (id, options) => waitUntil<Run>((each) => get(runPath(id), each), hasEnded, options),
  };
}

function hasEnded({ status }: Run): boolean {
  return status === "finished" || status === "cancelled" || status === "failed";
}

/** The pass rates that runs are to reach, by the name of the runs. */
export interface Goals {
  /** Lists the goals, the latest first: `GET /v1/goals`. */
  list(options?: CallOptions): Promise<Goal[]>;
  /** Sets the goal of all runs of a name: `PUT /v1/goals/{run_name}`. */
  set(runName: string, goal: GoalRequest, options?: CallOptions): Promise<Goal>;
  /** Removes the goal of a name: `DELETE /v1/goals/{run_name}`. */
  remove(runName: string, options?: CallOptions): Promise<void>;
}

export function goals(transport: Transport): Goals {
  const { repeatable, remove, list } = callsOf(transport);
  const path = "/v1/goals";
  const pathOf = pathsUnder(path);
  return {
    list: (options) => list(path, options),
    set: (runName, body, options) => repeatable("PUT", pathOf(runName), options, body),
    remove: (runName, options) => remove(pathOf(runName), options),
  };
}

/** Reports of runs. */
export interface RunReports {
  /** Gets a run's report so far: `GET /v1/runs/{id}/report`. */
  report(id: string, options?: CallOptions): Promise<RunReport>;
  /** Gets the same as one HTML page without scripts, or as Markdown. */
  reportAs(id: string, format: "html" | "md", options?: CallOptions): Promise<string>;
  /** Gets whether a run's confidences can be trusted, by one evaluator: `GET /v1/runs/{id}/calibration`. */
  calibration(
    id: string,
    query?: QueryOf<RunCalibrationQuery>,
    options?: CallOptions,
  ): Promise<RunCalibration>;
}

function runReports(transport: Transport): RunReports {
  const { get } = callsOf(transport);
  return {
    report: (id, options) => get(runPath(id, "/report"), options, { format: "json" }),
    reportAs: (id, format, options) =>
      transport.text({ method: "GET", path: runPath(id, "/report"), query: { format } }, options),
    calibration: (id, query, options) => get(runPath(id, "/calibration"), options, query),
  };
}

/** Selects samples of a comparison, by evaluator and by whether the candidate's score is lower or higher. */
export type ComparedSampleFilter = Pick<ComparedSampleListQuery, "evaluator" | "profile_name" | "direction">;

/** The two runs of a list of samples. */
export interface ComparedPair {
  reference: string;
  candidate: string;
}

/** A page of a list of samples. */
export interface ComparedSamplePage {
  /** The most samples on the page. Default: 100. */
  limit?: number | undefined;
  /** The `next` of an earlier page. */
  after?: string | undefined;
}

/** Comparisons of runs. */
export interface Comparisons {
  /** Compares runs with the first one: `GET /v1/comparisons`. At most 10. */
  get(runIds: readonly string[], options?: CallOptions): Promise<Comparison>;
  /** Gets the same as one HTML page without scripts, or as Markdown. */
  getAs(runIds: readonly string[], format: "html" | "md", options?: CallOptions): Promise<string>;
  /** Lists one page of the samples that differ, the most different first: `GET /v1/comparisons/samples`. `next` is null on the last page. */
  listSamples(
    runs: ComparedPair,
    filter: ComparedSampleFilter & ComparedSamplePage,
    options?: CallOptions,
  ): Promise<{ data: ComparedSample[]; next: string | null }>;
  /** Yields the samples that differ, the most different first, page by page: `GET /v1/comparisons/samples`. */
  iterateSamples(
    runs: ComparedPair,
    filter: ComparedSampleFilter,
    options?: CallOptions,
  ): AsyncGenerator<ComparedSample, void, undefined>;
}

const comparisonsPath = "/v1/comparisons";

export function comparisons(transport: Transport): Comparisons {
  const { get, iterate } = callsOf(transport);
  const samplesPath = `${comparisonsPath}/samples`;
  const queryOf = ({ reference, candidate }: ComparedPair, filter: object) => ({
    runs: `${reference},${candidate}`,
    ...filter,
  });
  return {
    get: (runIds, options) => get(comparisonsPath, options, { runs: runIds.join(",") }),
    getAs(runIds, format, options) {
      const query = { runs: runIds.join(","), format };
      return transport.text({ method: "GET", path: comparisonsPath, query }, options);
    },
    listSamples: (runs, filter, options) => get(samplesPath, options, queryOf(runs, filter)),
    iterateSamples: (runs, filter, options) => iterate(samplesPath, options, queryOf(runs, filter)),
  };
}

/** Links that show a run, a comparison or a reality check to anyone who has them. */
export interface Shares {
  /** Makes a link: `POST /v1/shares`. Only this response contains the link itself, as a path of the server. */
  create(request: ShareCreateRequest, options?: CallOptions): Promise<ShareCreateResponse>;
  /** Lists the account's links that work, newest first, over all pages: `GET /v1/shares`. With ids, only links to those. */
  list(ids?: readonly string[], options?: CallOptions): Promise<Share[]>;
  /** Ends a link: `DELETE /v1/shares/{id}`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const sharesPath = "/v1/shares";

export function shares(transport: Transport): Shares {
  const { repeatable, list } = callsOf(transport);
  return {
    // A repeated call would make a second link.
    create: (body, options) =>
      transport.json({ method: "POST", path: sharesPath, body, isRepeatable: false }, options),
    list: (ids, options) => list(sharesPath, options, { ids: ids?.join(",") }),
    revoke: (id, options) => repeatable("DELETE", pathsUnder(sharesPath)(id), options),
  };
}
