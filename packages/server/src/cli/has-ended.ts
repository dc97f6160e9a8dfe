import type { Run } from "@presage/contract";

/** Whether a run has a status that it never leaves. */
export function hasEnded({ status }: Pick<Run, "status">): boolean {
  return status === "finished" || status === "cancelled" || status === "failed";
}
