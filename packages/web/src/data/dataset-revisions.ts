import {
  createPresage,
  type DatasetRevision,
  type DatasetSample,
  type ImportOptions,
  type Presage,
  PresageError,
} from "@presage/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { csrfToken } from "../session.ts";
import { usePresage } from "./client.ts";
import { datasetsKey } from "./datasets.ts";

/** A dataset that there is, or a new one. */
export type WantedDataset = { id: string } | { name: string };

/** Makes a revision of a dataset. A new dataset is not left behind if that fails. */
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
  /** Become one revision, all or none. */
  files: readonly File[];
  options: ImportOptions & { append?: boolean };
  signal: AbortSignal;
  /** A share from 0 to 1 of what was sent. */
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
const timeoutMs = 24 * 3_600_000;

async function uploadWithProgress(
  datasetId: string,
  { files, options, signal, onProgress }: Omit<NewUpload, "dataset">,
): Promise<DatasetRevision> {
  const presage = createPresage({ csrfToken, fetch: (url, init) => send(url, init, onProgress) });
  const [only, ...others] = files;
  const call = { ...options, signal, timeoutMs, retries: 0 };
  if (only !== undefined && others.length === 0)
    return await presage.datasets.upload(datasetId, only, { ...call, source: only.name });
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  return await presage.datasets.upload(datasetId, form, call);
}

/** `fetch` does not tell how much of a body was sent. */
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

/** Adds a sample to a dataset, as its next revision: the lines of the latest one and this. */
export function useAddSample() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    async mutationFn({ dataset, sample }: { dataset: WantedDataset; sample: NewSample }) {
      const { id } = "id" in dataset ? dataset : await presage.datasets.create(dataset);
      return await append(presage, id, sample);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: datasetsKey }),
  });
}

const maxTries = 5;

/** Someone else may add a revision at the same time. */
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
