import type {
  Dataset,
  DatasetCreateRequest,
  DatasetExportQuery,
  DatasetRevision,
  DatasetSample,
  DatasetTrajectory,
  DatasetTrajectoryListQuery,
  DatasetTrajectoryListResponse,
  EpisodeSelection,
  ImportFormat,
  ImportFormatsResponse,
  ImportPreview,
  ImportPreviewQuery,
  RealityCheckSelection,
} from "@presage/contract";
import type { CallOptions, ListOptions, PageOptions, QueryOf, WriteOptions } from "../call.ts";
import { callsOf, headersOfBody, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";

/** A file: text, bytes, a `Blob`, or a stream, which can be sent only once. `FormData` can contain several files. */
export type DatasetLines = string | Uint8Array<ArrayBuffer> | Blob | FormData | ReadableStream<Uint8Array>;

/** How files become samples, as in the query of `POST /v1/datasets/{id}/revisions`. */
export type ImportOptions = QueryOf<ImportPreviewQuery>;

/** How a file is previewed. */
export interface PreviewOptions extends CallOptions, ImportOptions {
  /** Whether the body is compressed with gzip on its way. A file that is gzip, zstd or zip itself needs no flag. */
  isGzip?: boolean | undefined;
  /** For a stream that contains several files: `multipart/form-data; boundary=…`. */
  contentType?: string | undefined;
}

/** How files become a revision. */
export interface UploadOptions extends PreviewOptions {
  /** Whether the new revision begins with the lines of the latest one. A conflict if another revision is added meanwhile. */
  append?: boolean | undefined;
}

/** Which revision of a dataset. */
export interface RevisionOptions extends CallOptions {
  /** The number of a revision; the latest if absent. */
  revision?: number | undefined;
}

/** Which samples of a trajectory. */
export interface TrajectoryOptions extends RevisionOptions {
  /** At most this many samples, up to 1,000; all if absent. */
  limit?: number | undefined;
  /** Only samples after this step. */
  after?: string | number | undefined;
}

/** Selects the trajectories of a revision, and their order: by id, or by the number of steps. */
export interface TrajectoryFilter extends Pick<DatasetTrajectoryListQuery, "contains" | "order"> {
  /** The number of a revision; the latest if absent. */
  revision?: number | undefined;
}

/** What is deleted with a dataset. */
export interface DeleteDatasetOptions extends CallOptions {
  /** Deletes the dataset's runs as well. If absent, a dataset with runs is not deleted. */
  withRuns?: boolean | undefined;
}

/** The outcome of an import. */
export interface ImportedDataset {
  dataset: Dataset;
  revision: DatasetRevision;
}

/** What recorded traces would become. */
export interface Imports {
  /** Says what an upload of the files would store, and stores nothing: `POST /v1/imports/preview`. */
  preview(files: DatasetLines, options?: PreviewOptions): Promise<ImportPreview>;
  /** Lists the formats that can be imported: `GET /v1/imports/formats`. */
  listFormats(options?: CallOptions): Promise<ImportFormat[]>;
}

/** Recorded transitions, in immutable revisions. */
export interface Datasets {
  /** Lists all datasets, newest first: `GET /v1/datasets`. */
  list(options?: ListOptions): Promise<Dataset[]>;
  /** Gets one dataset: `GET /v1/datasets/{id}`. */
  get(id: string, options?: CallOptions): Promise<Dataset>;
  /** Creates a dataset without samples: `POST /v1/datasets`. */
  create(request: DatasetCreateRequest, options?: WriteOptions): Promise<Dataset>;
  /** Deletes a dataset with all its revisions, and with its runs if `withRuns` says so: `DELETE /v1/datasets/{id}`. */
  delete(id: string, options?: DeleteDatasetOptions): Promise<void>;
  /**
   * Uploads a revision, or finds the one that has these lines: `POST /v1/datasets/{id}/revisions`. Set `timeoutMs` for long ones.
   * A wrong line is named in the error's `issues`, as `["body", "line", 17, …]`.
   */
  upload(id: string, lines: DatasetLines, options?: UploadOptions): Promise<DatasetRevision>;
  /** Uploads files to the dataset of this name, which is created if there is none. */
  import(name: string, files: DatasetLines, options?: UploadOptions): Promise<ImportedDataset>;
  /**
   * Makes a revision in which each trajectory is an episode, or finds the one that has these steps:
   * `POST /v1/datasets/{id}/revisions?from=episodes`. Set `timeoutMs` for many episodes.
   */
  uploadEpisodes(
    id: string,
    selection: EpisodeSelection,
    options?: CallOptions & Pick<UploadOptions, "append">,
  ): Promise<DatasetRevision>;
  /**
   * Makes a revision in which each trajectory is what really followed the actions of an episode that reality checks replayed:
   * `POST /v1/datasets/{id}/revisions?from=reality-checks`.
   */
  uploadRealityChecks(
    id: string,
    selection: RealityCheckSelection,
    options?: CallOptions & Pick<UploadOptions, "append">,
  ): Promise<DatasetRevision>;
  /** Lists all revisions, the highest number first: `GET /v1/datasets/{id}/revisions`. */
  listRevisions(id: string, options?: CallOptions): Promise<DatasetRevision[]>;
  /** Yields all samples of a revision in the order of their lines, page by page: `GET /v1/datasets/{id}/samples`. */
  iterateSamples(id: string, options?: RevisionOptions): AsyncGenerator<DatasetSample, void, undefined>;
  /** Gets one page of a revision's trajectories, without their samples: `GET /v1/datasets/{id}/trajectories`. */
  pageOfTrajectories(
    id: string,
    filter?: TrajectoryFilter,
    options?: PageOptions,
  ): Promise<DatasetTrajectoryListResponse>;
  /** Gets samples of one trajectory, all of them or a page: `GET /v1/datasets/{id}/trajectories/{trajectory_id}`. */
  getTrajectory(id: string, trajectoryId: string, options?: TrajectoryOptions): Promise<DatasetTrajectory>;
  /** Yields the lines of a revision as they arrive: `GET /v1/datasets/{id}/export`. Throws if the export was cut off. */
  exportLines(id: string, options?: RevisionOptions): AsyncGenerator<string, void, undefined>;
  /** Yields a revision as a file in the given format, as it arrives: `GET /v1/datasets/{id}/export`. */
  export(
    id: string,
    query?: QueryOf<DatasetExportQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
}

const path = "/v1/datasets";
const pathOf = pathsUnder(path);

export function datasets(transport: Transport): Datasets {
  const { json, lines, chunks } = transport;
  const { get, create, remove, list, iterate } = callsOf(transport);

  async function* iterateSamples(id: string, { revision, ...options }: RevisionOptions = {}) {
    // All pages are of the revision that is the latest now, even if another one is added meanwhile.
    const fixed = revision ?? (await get<Dataset>(pathOf(id), options)).latest_revision?.revision;
    yield* iterate<DatasetSample>(pathOf(id, "/samples"), options, { revision: fixed });
  }

  const upload: Datasets["upload"] = (id, files, { append, ...options } = {}) => {
    const { query, ...sent } = sentFiles(files, options);
    const isOnce = append === true || files instanceof ReadableStream;
    return json(
      {
        method: "POST",
        path: pathOf(id, "/revisions"),
        query: { ...query, ...(append === true && { append: "true" }) },
        ...sent,
        // The same lines give the same revision, but appending them twice is refused. A stream is gone after the first try.
        isRepeatable: !isOnce,
      },
      options,
    );
  };

  const uploadFrom =
    (from: string) =>
    (
      id: string,
      body: object,
      { append, ...options }: CallOptions & Pick<UploadOptions, "append"> = {},
    ): Promise<DatasetRevision> =>
      json(
        {
          method: "POST",
          path: pathOf(id, "/revisions"),
          query: { from, ...(append === true && { append: "true" }) },
          body,
          isRepeatable: append !== true,
        },
        options,
      );

  return {
    list: (options) => list(path, options),
    get: (id, options) => get(pathOf(id), options),
    create: (body, options) => create(path, body, options),
    delete: (id, { withRuns, ...options } = {}) => remove(pathOf(id), options, { with_runs: withRuns }),
    upload,
    async import(name, files, options = {}) {
      const { signal, timeoutMs, retries } = options;
      const call = { signal, timeoutMs, retries };
      const found = (await list<Dataset>(path, call)).find((one) => one.name === name);
      const made = found ?? (await create<Dataset>(path, { name }, call));
      try {
        return { dataset: made, revision: await upload(made.id, files, options) };
      } catch (error) {
        // After a failed upload the new dataset is deleted, unless it has got a revision meanwhile.
        const left =
          found === undefined ? await get<Dataset>(pathOf(made.id), call).catch(() => undefined) : undefined;
        if (left?.latest_revision === null) await remove(pathOf(made.id), call).catch(() => {});
        throw error;
      }
    },
    uploadEpisodes: uploadFrom("episodes"),
    uploadRealityChecks: uploadFrom("reality-checks"),
    listRevisions: (id, options) => list(pathOf(id, "/revisions"), options),
    iterateSamples,
    pageOfTrajectories: (id, filter, { limit, after, ...options } = {}) =>
      get(pathOf(id, "/trajectories"), options, { ...filter, limit, after }),
    getTrajectory: (id, trajectoryId, { revision, limit, after, ...options } = {}) =>
      get(pathsUnder(pathOf(id, "/trajectories"))(trajectoryId), options, { revision, limit, after }),
    exportLines: (id, { revision, ...options } = {}) =>
      lines({ method: "GET", path: pathOf(id, "/export"), query: { revision } }, options),
    export: (id, query, options) =>
      chunks({ method: "GET", path: pathOf(id, "/export"), query: { ...query } }, options),
  };
}

export function imports(transport: Transport): Imports {
  return {
    preview: (files, options = {}) =>
      transport.json(
        {
          method: "POST",
          path: "/v1/imports/preview",
          ...sentFiles(files, options),
          isRepeatable: !(files instanceof ReadableStream),
        },
        options,
      ),
    listFormats: async (options) =>
      (await callsOf(transport).get<ImportFormatsResponse>("/v1/imports/formats", options)).data,
  };
}

/** Files as they are sent. */
function sentFiles(content: DatasetLines, options: PreviewOptions) {
  const { isGzip, contentType, signal, timeoutMs, retries, onResponse, ...query } = options;
  return { query, content, headers: headersOfBody(content, { isGzip, contentType }) };
}
