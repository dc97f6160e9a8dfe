import {
  createPresage,
  type DatasetRevision,
  type DatasetSample,
  type ImportOptions,
  type Presage,
  PresageError,
  type TrajectoryFilter,
} from "@presage/sdk";
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { csrfToken } from "../session.ts";
import { pagedQuery, useChange, usePresage } from "./client.ts";

const datasetsKey = ["datasets"];
const trajectoriesOnPage = 100;
/** cottage-2 before cottage-10. */
const naturally = new Intl.Collator("en", { numeric: true });
const stepsOnPage = 100;
/** A revision never changes. */
const staleTime = Number.POSITIVE_INFINITY;
/** Texts may take megabytes. */
const textsCacheMs = 60_000;

export function datasetsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...datasetsKey, "all"],
    queryFn: ({ signal }) => presage.datasets.list({ signal }),
  });
}

export function datasetQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...datasetsKey, "one", id],
    queryFn: ({ signal }) => presage.datasets.get(id, { signal }),
  });
}

/** All revisions of a dataset, the newest first. */
export function revisionsQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...datasetsKey, "revisions", id],
    queryFn: ({ signal }) => presage.datasets.listRevisions(id, { signal }),
  });
}

/** The runs on a dataset, which would be deleted with it, newest first. */
export function runsOnDatasetQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...datasetsKey, "runs", id],
    queryFn: ({ signal }) => presage.runs.list({ dataset_id: id }, { signal }),
  });
}

/** The trajectories of a revision, page by page. */
export function trajectoryPagesQuery(
  presage: Presage,
  id: string,
  filter: TrajectoryFilter & { revision: number },
) {
  return {
    ...pagedQuery([...datasetsKey, "trajectories", id, filter], async ({ after, signal }) => {
      const page = { limit: trajectoriesOnPage, after, signal };
      const { data, next } = await presage.datasets.pageOfTrajectories(id, filter, page);
      // Of several pages, each has the server’s order.
      if (after === undefined && next === null && filter.order === "trajectory_id")
        data.sort((one, other) => naturally.compare(one.trajectory_id, other.trajectory_id));
      return { data, next };
    }),
    staleTime,
    structuralSharing: false,
  };
}

interface PlaceInDataset {
  datasetId: string;
  revision: number | undefined;
  trajectoryId: string;
}

/** The samples of a trajectory, page by page. */
export function trajectoryStepsQuery(
  presage: Presage,
  { datasetId, revision, trajectoryId }: PlaceInDataset,
) {
  return infiniteQueryOptions({
    queryKey: [...datasetsKey, "steps", datasetId, revision, trajectoryId],
    queryFn: ({ pageParam, signal }) =>
      presage.datasets.getTrajectory(datasetId, trajectoryId, {
        revision,
        limit: stepsOnPage,
        after: pageParam,
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    staleTime,
    gcTime: textsCacheMs,
    structuralSharing: false,
  });
}

/** One sample of a trajectory; null if there is no sample for that step. */
export function datasetSampleQuery(
  presage: Presage,
  { datasetId, revision, trajectoryId, step }: PlaceInDataset & { step: number },
) {
  return queryOptions({
    queryKey: [...datasetsKey, "sample", datasetId, revision, trajectoryId, step],
    async queryFn({ signal }): Promise<DatasetSample | null> {
      const { samples } = await presage.datasets.getTrajectory(datasetId, trajectoryId, {
        revision,
        limit: 1,
        after: step - 1,
        signal,
      });
      return samples.find((sample) => sample.step === step) ?? null;
    },
    staleTime,
    gcTime: textsCacheMs,
    structuralSharing: false,
  });
}

export function useDeleteDataset(id: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (withRuns: boolean) => presage.datasets.delete(id, { withRuns }),
    onSuccess() {
      queryClient.removeQueries({ queryKey: [...datasetsKey, "one", id] });
      const changed = ["all", "names", "runs"].map((kind) => [...datasetsKey, kind]);
      for (const queryKey of [...changed, ["runs"], ["comparisons"], ["example"]])
        void queryClient.invalidateQueries({ queryKey });
    },
  });
}

/** The names of all datasets by their ids. */
export function datasetNamesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["datasets", "names"],
    queryFn: async ({ signal }) =>
      new Map((await presage.datasets.list({ signal })).map(({ id, name }) => [id, name])),
  });
}

/** An existing dataset, or a new one. */
export type WantedDataset = { id: string } | { name: string };

/** Creates a revision of a dataset. If that fails, a new dataset is deleted again. */
export async function makeRevision(
  { datasets }: Presage,
  dataset: WantedDataset,
  make: (id: string) => Promise<DatasetRevision>,
  options?: { signal: AbortSignal },
): Promise<{ id: string; revision: DatasetRevision }> {
  const { id } = "id" in dataset ? dataset : await datasets.create(dataset, options);
  try {
    return { id, revision: await make(id) };
  } catch (error) {
    if ("name" in dataset) await datasets.delete(id).catch(() => {});
    throw error;
  }
}

export interface NewUpload {
  dataset: WantedDataset;
  /** Stored as one revision, all or none. */
  files: readonly File[];
  options: ImportOptions & { append?: boolean };
  signal: AbortSignal;
  /** Gets the share that has been sent, from 0 to 1. */
  onProgress(share: number): void;
}

/** Uploads files as a revision. */
export function useUploadRevision() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ dataset, ...upload }: NewUpload) =>
      makeRevision(presage, dataset, (id) => uploadWithProgress(id, upload), { signal: upload.signal }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: datasetsKey }),
  });
}

/** Uploads have no time limit: the user sees the progress and can cancel. */
const uploadTimeoutMs = 24 * 3_600_000;

async function uploadWithProgress(
  datasetId: string,
  { files, options, signal, onProgress }: Omit<NewUpload, "dataset">,
): Promise<DatasetRevision> {
  const presage = createPresage({ csrfToken, fetch: (url, init) => send(url, init, onProgress) });
  const [only, ...others] = files;
  const call = { ...options, signal, timeoutMs: uploadTimeoutMs, retries: 0 };
  if (only !== undefined && others.length === 0)
    return await presage.datasets.upload(datasetId, only, { ...call, source: only.name });
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  return await presage.datasets.upload(datasetId, form, call);
}

/** Used because `fetch` does not report how much of a body has been sent. */
function send(url: string, init: RequestInit, onProgress: (share: number) => void): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const request = new XMLHttpRequest();
  request.open(init.method ?? "GET", url);
  new Headers(init.headers).forEach((value, name) => {
    request.setRequestHeader(name, value);
  });
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
  request.onload = () => {
    const headers = new Headers();
    for (const line of request.getAllResponseHeaders().trim().split("\r\n")) {
      const end = line.indexOf(":");
      if (end > 0) headers.append(line.slice(0, end), line.slice(end + 1).trim());
    }
    resolve(new Response(request.responseText, { status: request.status, headers }));
  };
  request.onerror = () => reject(new TypeError("The upload was cut off."));
  request.onabort = () => reject(init.signal?.reason);
  init.signal?.addEventListener("abort", () => request.abort());
  const { body } = init;
  request.send(body instanceof Blob || body instanceof FormData ? body : null);
  return promise;
}

export type NewSample = Omit<DatasetSample, "dataset_sample_id">;

/** Adds a sample to a dataset as its next revision, which consists of the latest revision's lines and the new one. */
export function useAddSample() {
  return useChange(
    datasetsKey,
    async (presage, { dataset, sample }: { dataset: WantedDataset; sample: NewSample }) =>
      (await makeRevision(presage, dataset, (id) => append(presage, id, sample))).revision,
  );
}

const maxTries = 5;

/** Retries, since someone else may add a revision at the same time. */
async function append(presage: Presage, id: string, sample: NewSample): Promise<DatasetRevision> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await presage.datasets.upload(id, `${JSON.stringify(sample)}\n`, { append: true });
    } catch (error) {
      const isConflict = error instanceof PresageError && error.category === "conflict";
      if (!isConflict || tries === maxTries) throw error;
    }
  }
}

const importsKey = ["imports"];

/** A file that the user chose, with an id, since several files may have the same name. */
export interface ChosenFile {
  id: string;
  file: File;
}

/** The file formats that the server reads. They change only with its version. */
export function importFormatsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...importsKey, "formats"],
    queryFn: ({ signal }) => presage.imports.listFormats({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Long enough for a slow connection to send the beginning of a large file. */
const previewTimeoutMs = 30 * 60_000;
const previewCacheMs = 60_000;

/** A preview of what an upload of a file would store. */
export function importPreviewQuery(presage: Presage, { id, file }: ChosenFile, options: ImportOptions) {
  return queryOptions({
    queryKey: [...importsKey, "preview", id, options],
    queryFn: async ({ signal }) =>
      presage.imports.preview(await beginningOf(file), {
        ...options,
        source: file.name,
        signal,
        timeoutMs: previewTimeoutMs,
      }),
    staleTime,
    gcTime: previewCacheMs,
    structuralSharing: false,
    // The file may have changed since it was chosen, which only the user can fix.
    refetchInterval: false,
    refetchOnWindowFocus: false,
  });
}

/** For a preview, the server reads 64 MiB of unpacked data; incompressible data becomes slightly longer when packed. */
const previewBytes = 65 * 1024 * 1024;
const zipMark = "PK";

/** The part of a file that its preview needs. Zip files are read from the end. */
async function beginningOf(file: File): Promise<Blob> {
  if (file.size <= previewBytes || (await file.slice(0, zipMark.length).text()) === zipMark) return file;
  return file.slice(0, previewBytes);
}
