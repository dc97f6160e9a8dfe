import { z } from "zod";

/** Of `CaptureSetting`, for where it is no field of a request. */
export const capturePattern = /^(off|failures|all|[01]|0\.\d{1,9})$/;

const error = "Input should be off, failures, all, or a share from 0 to 1 such as 0.01";

/** Which predictions of live traffic are kept: none, those that failed, all, or a share of them. */
export const CaptureSetting = z
  .string()
  .regex(capturePattern, { error })
  .meta({
    description:
      "`off`, `failures` (only those that failed), `all`, or the share that is kept, from 0 to 1, such as `0.01`. A hash of the request's id decides which.",
    examples: ["failures", "0.01"],
  });
export type CaptureSetting = z.infer<typeof CaptureSetting>;
