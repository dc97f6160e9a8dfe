import { PresageError } from "@presage/sdk";

/** Whether the resource in the URL does not exist, or its id is malformed. */
export function isNotFound(error: unknown): boolean {
  return error instanceof PresageError && (error.category === "not_found" || error.category === "invalid");
}
