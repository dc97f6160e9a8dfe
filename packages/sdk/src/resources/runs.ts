import type {
  ComparedSample,
  ComparedSampleListQuery,
  ComparedSampleListResponse,
  Comparison,
  EvaluatorReference,
  Goal,
  GoalListResponse,
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
  RunListResponse,
  RunReport,
  RunSample,
  RunSampleListQuery,
  RunSampleListResponse,
  RunUpload,
  Share,
  ShareCreateRequest,
  ShareCreateResponse,
  ShareListResponse,
} from "@presage/contract";
import { type CallOptions, type PageOptions, type QueryOf, underOneKey, type WriteOptions } from "../call.ts";
import { iterateAllPages, listAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";
import { type WaitOptions, waitUntil } from "../wait-until.ts";
import type { DatasetLines } from "./datasets.ts";

/** Which runs: of a dataset, with a status, of a name. */
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

/** In which order a run's predictions are, and how much of their texts comes with them. An order by score needs an evaluator. */
export type RunSampleView = Pick<RunSampleListQuery, "order" | "order_evaluator" | "order_profile_name"> & {
  /** How many characters of each prediction to return. Absent: none. */
  text_limit?: number | undefined;
};

/** Options of `uploadPredictions`. */
export interface PredictionsUploadOptions extends CallOptions {
  /** Whether the lines are compressed with gzip. */
  isGzip?: boolean | undefined;
}

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
  /** Gets the latest figures of each target and dataset, beside baseline, goal and the run before: `GET /v1/headlines`. */
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
  /** Has its predictions judged by more evaluators; none is made again: `POST /v1/runs/{id}/evaluators`. */
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
  /** Yields the predictions as a file of a format, as it arrives: `GET /v1/runs/{id}/export`. */
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

export function runs(transport: Transport): Runs {
  const { json, lines, chunks } = transport;
  const pathOf = (id: string, more = "") => `${runsPath}/${encodeURIComponent(id)}${more}`;
  const read = (of: string, query = {}) => ({ method: "GET", path: of, query }) as const;
  // Repeating it changes nothing.
  const change = (of: string, body?: unknown) =>
    ({ method: "POST", path: of, body, isRepeatable: true }) as const;

  return {
    ...runReports(transport),
    create: (body, options) =>
      json({ method: "POST", path: runsPath, body, ...underOneKey(options) }, options),
    get: (id, options) => json(read(pathOf(id)), options),
    list: (filter, options) =>
      listAllPages((query) => json<RunListResponse>(read(runsPath, { ...filter, ...query }), options)),
    headlines: async (options) => (await json<HeadlineListResponse>(read("/v1/headlines"), options)).data,
    listPage: (filter, options) => json<RunListResponse>(read(runsPath, { ...filter }), options),
    cancel: (id, options) => json(change(pathOf(id, "/cancel")), options),
    pause: (id, options) => json(change(pathOf(id, "/pause")), options),
    resume: (id, options) => json(change(pathOf(id, "/resume")), options),
    finish: (id, options) => json(change(pathOf(id, "/finish")), options),
    async delete(id, options) {
      await json({ method: "DELETE", path: pathOf(id) }, options);
    },
    addEvaluators: (id, evaluators, options) =>
      json(change(pathOf(id, "/evaluators"), { evaluators }), options),
    pageOfSamples: (id, filter, { limit, after, ...options } = {}) =>
      json(read(pathOf(id, "/samples"), { ...filter, limit, after }), options),
    iterateSamples: (id, filter, options) =>
      iterateAllPages((query) =>
        json<RunSampleListResponse>(read(pathOf(id, "/samples"), { ...filter, ...query }), options),
      ),
    exportLines: (id, options) => lines(read(pathOf(id, "/export")), options),
    export: (id, query, options) => chunks(read(pathOf(id, "/export"), { ...query }), options),
    uploadPredictions: (id, content, { isGzip, ...options } = {}) =>
      json(
        {
          method: "POST",
          path: pathOf(id, "/predictions"),
          content,
          headers: {
            "content-type": "application/x-ndjson",
            ...(isGzip ? { "content-encoding": "gzip" } : {}),
          },
          // They are uploaded once.
          isRepeatable: false,
        },
        options,
      ),
    waitUntilEnded: (id, options) =>
      waitUntil((each) => json<Run>(read(pathOf(id)), each), hasEnded, options),
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
  /** Removes it: `DELETE /v1/goals/{run_name}`. */
  remove(runName: string, options?: CallOptions): Promise<void>;
}

export function goals({ json }: Transport): Goals {
  const path = "/v1/goals";
  const pathOf = (runName: string) => `${path}/${encodeURIComponent(runName)}`;
  return {
    list: (options) =>
      listAllPages((query) => json<GoalListResponse>({ method: "GET", path, query }, options)),
    set: (runName, body, options) =>
      json({ method: "PUT", path: pathOf(runName), body, isRepeatable: true }, options),
    async remove(runName, options) {
      await json({ method: "DELETE", path: pathOf(runName) }, options);
    },
  };
}

/** Reports of runs. */
export interface RunReports {
  /** Gets what a run says so far: `GET /v1/runs/{id}/report`. */
  report(id: string, options?: CallOptions): Promise<RunReport>;
  /** Gets the same as one HTML page without scripts, or as Markdown. */
  reportAs(id: string, format: "html" | "md", options?: CallOptions): Promise<string>;
  /** Gets whether its confidences may be trusted, by one evaluator: `GET /v1/runs/{id}/calibration`. */
  calibration(
    id: string,
    query?: QueryOf<RunCalibrationQuery>,
    options?: CallOptions,
  ): Promise<RunCalibration>;
}

function runReports({ json, text }: Transport): RunReports {
  const get = (id: string, format: "json" | "html" | "md") => ({
    method: "GET" as const,
    path: `/v1/runs/${encodeURIComponent(id)}/report`,
    query: { format },
    isRepeatable: true,
  });
  return {
    report: (id, options) => json(get(id, "json"), options),
    reportAs: (id, format, options) => text(get(id, format), options),
    calibration: (id, query, options) =>
      json(
        { method: "GET", path: `/v1/runs/${encodeURIComponent(id)}/calibration`, query: { ...query } },
        options,
      ),
  };
}

/** Which samples of a comparison: of one evaluator, and whether the candidate's score is lower or higher. */
export type ComparedSampleFilter = Pick<ComparedSampleListQuery, "evaluator" | "profile_name" | "direction">;

/** The two runs of a list of samples. */
export interface ComparedPair {
  reference: string;
  candidate: string;
}

/** A part of a list of samples. */
export interface ComparedSamplePage {
  /** The most samples of the page. Default: 100. */
  limit?: number | undefined;
  /** The `next` of an earlier page. */
  after?: string | undefined;
}

/** Runs beside each other. */
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

export function comparisons({ json, text }: Transport): Comparisons {
  const compare = (ids: readonly string[], format: "json" | "html" | "md") => ({
    method: "GET" as const,
    path: comparisonsPath,
    query: { runs: ids.join(","), ...(format !== "json" && { format }) },
    isRepeatable: true,
  });
  const listSamples: Comparisons["listSamples"] = ({ reference, candidate }, filter, options) =>
    json<ComparedSampleListResponse>(
      {
        method: "GET",
        path: `${comparisonsPath}/samples`,
        query: { runs: `${reference},${candidate}`, ...filter },
      },
      options,
    );

  return {
    get: (runIds, options) => json(compare(runIds, "json"), options),
    getAs: (runIds, format, options) => text(compare(runIds, format), options),
    listSamples,
    async *iterateSamples(runs, filter, options) {
      let after: string | undefined;
      do {
        const page = await listSamples(runs, { ...filter, after }, options);
        yield* page.data;
        after = page.next ?? undefined;
      } while (after !== undefined);
    },
  };
}

/** Links that show a run or a comparison to whoever has them. */
export interface Shares {
  /** Makes a link: `POST /v1/shares`. Only this response contains the link itself, as a path of the server. */
  create(request: ShareCreateRequest, options?: CallOptions): Promise<ShareCreateResponse>;
  /** Lists the account's links that work, newest first, over all pages: `GET /v1/shares`. With ids, those to this run or comparison. */
  list(ids?: readonly string[], options?: CallOptions): Promise<Share[]>;
  /** Ends a link: `DELETE /v1/shares/{id}`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const sharesPath = "/v1/shares";

export function shares({ json }: Transport): Shares {
  return {
    // A repeated one would make a second link.
    create: (body, options) => json({ method: "POST", path: sharesPath, body, isRepeatable: false }, options),
    list: (ids, options) =>
      listAllPages((page) => {
        const query = { ...page, ...(ids && { ids: ids.join(",") }) };
        return json<ShareListResponse>({ method: "GET", path: sharesPath, query }, options);
      }),
    revoke: (id, options) =>
      json(
        { method: "DELETE", path: `${sharesPath}/${encodeURIComponent(id)}`, isRepeatable: true },
        options,
      ),
  };
}
