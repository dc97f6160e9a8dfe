import { totalmem } from "node:os";

/** A quarter of the machine's memory, or of the container's if that is less, in bytes. */
export function quarterOfMemory(): number {
  // 0 if no limit is known.
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), limitBytes) / 4);
}
