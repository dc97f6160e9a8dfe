import { createPresage, type DatasetRevision } from "@presage/sdk";
import { csrfToken } from "./csrf-token.ts";

interface UploadCall {
  signal: AbortSignal;
  /** A share from 0 to 1 of what was sent. */
  onProgress(share: number): void;
}

/** Uploads have no time limit: the user sees the progress and can cancel. */
const timeoutMs = 24 * 3_600_000;

/** Uploads a file as a revision of a dataset. Of its formats the server finds out which it is. */
export async function uploadWithProgress(
  datasetId: string,
  file: File,
  { signal, onProgress }: UploadCall,
): Promise<DatasetRevision> {
  const presage = createPresage({ csrfToken, fetch: (url, init) => send(url, init, onProgress) });
  const isGzip = file.name.endsWith(".gz");
  return await presage.datasets.upload(datasetId, file, { isGzip, signal, timeoutMs, retries: 0 });
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
  request.send(init.body instanceof Blob ? init.body : null);
  return promise;
}
