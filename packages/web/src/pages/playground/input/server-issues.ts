import { placedFaults } from "../../../ui/form/field-issues.ts";
import type { Faults } from "./read-draft.ts";

/** What the server found wrong, by the place in the request. */
export function serverFaults(error: unknown): Faults {
  return Object.fromEntries(placedFaults(error).map(({ path, text }) => [path.join("."), text]));
}
