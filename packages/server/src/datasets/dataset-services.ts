import type { Sweeper } from "../platform/storage/leases.ts";
import type { UploadLimits } from "./upload/lines.ts";
import type { Uploads } from "./upload/run-upload.ts";

/** What operations on datasets need beside the store. */
export interface DatasetServices extends Readonly<UploadLimits> {
  /** The limit of all datasets of an account together. */
  readonly quotaBytes: number;
  readonly uploads: Uploads;
  readonly sweeper: Pick<Sweeper, "schedule">;
}
