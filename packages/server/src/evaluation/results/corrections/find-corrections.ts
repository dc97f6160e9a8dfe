import type { Database } from "../../../storage/schema/tables.ts";
import type { CorrectedExample } from "../../judge/prompts.ts";
import { selectCorrectedResults } from "./corrections-store.ts";

/** What people have said of results of a profile, the latest first; of each result only the last word. */
export async function findCorrections(
  reader: Database,
  accountId: string,
  profilePublicId: string,
  limit: number,
): Promise<CorrectedExample[]> {
  const results = await selectCorrectedResults(reader, accountId, profilePublicId, limit);
  return results.flatMap(({ sample, correction }) => {
    if (correction === undefined) return [];
    const { pass, comment } = correction;
    return [{ sample, pass, ...(comment === undefined ? {} : { comment }) }];
  });
}
