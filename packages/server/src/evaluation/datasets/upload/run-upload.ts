import type { Upload, UploadedRevision } from "./upload-revision.ts";

/** Uploads a body, here or in a thread. */
export type RunUpload = (upload: Upload, body: AsyncIterable<Uint8Array>) => Promise<UploadedRevision>;
