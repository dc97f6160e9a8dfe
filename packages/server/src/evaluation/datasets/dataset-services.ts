import type { Sweeper } from "./sweeper.ts";
import type { RunUpload } from "./upload/run-upload.ts";

/** What operations on datasets need beside the store. */
export interface DatasetServices {
  /** Of one upload, decompressed. */
  readonly maxBytes: number;
  /** Of all datasets of an account. */
  readonly quotaBytes: number;
  readonly runUpload: RunUpload;
  readonly sweeper: Pick<Sweeper, "schedule">;
}
