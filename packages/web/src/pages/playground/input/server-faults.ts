import { PresageError } from "@presage/sdk";
import type { Faults } from "./read-draft.ts";

/** What the server found wrong, by the place in the request. */
export function serverFaults(error: unknown): Faults {
  if (!(error instanceof PresageError)) return {};
  return Object.fromEntries(error.faults.map(({ loc, msg }) => [loc.slice(1).join("."), msg]));
}
