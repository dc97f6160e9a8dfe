import { PresageError } from "@presage/sdk";

/** Whether what an address names is not there, or can be no name of anything. */
export function isNotFound(error: unknown): boolean {
  return error instanceof PresageError && (error.category === "not_found" || error.category === "invalid");
}
