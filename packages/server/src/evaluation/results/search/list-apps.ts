import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import { selectApps } from "./apps-store.ts";

/** A page of the names of all apps that an account has results of. */
export interface AppNames {
  names: string[];
  /** The last of them, if others follow. */
  next: string | undefined;
}

/** The apps that follow a name, or the first ones, in the order of their characters on every database. */
export async function listApps(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<AppNames> {
  const names = await selectApps(store.briefReader(asker), asker.accountId, { limit: limit + 1, after });
  return { names: names.slice(0, limit), next: names.length > limit ? names[limit - 1] : undefined };
}
