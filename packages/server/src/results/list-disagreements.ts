import { noSuchProfile } from "../evaluators/profiles/find-profile.ts";
import { selectProfile } from "../evaluators/profiles/profiles-store.ts";
import type { Requester } from "../platform/storage/reader.ts";
import { selectDisagreements } from "./corrections-store.ts";
import type { StoredResult } from "./evaluation-record.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { selectResults } from "./write/stored-results-store.ts";

export type CorrectedResult = StoredResult & { correction: NonNullable<StoredResult["correction"]> };

/** What a list shows of a text. */
const maxTextCharacters = 300;

/** Results of a profile whose verdict a person has turned round, the latest corrections first, with the beginnings of their texts. */
export async function listDisagreements(
  { store, builtInProfiles }: Pick<EvaluationServices, "store" | "builtInProfiles">,
  requester: Requester,
  publicId: string,
  limit: number,
): Promise<CorrectedResult[]> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const isBuiltIn = builtInProfiles.some(({ public_id }) => public_id === publicId);
  if (!isBuiltIn && (await selectProfile(reader, accountId, publicId)) === undefined) throw noSuchProfile();
  const ids = await selectDisagreements(reader, accountId, publicId, limit);
  const results = await selectResults(reader, accountId, ids, maxTextCharacters);
  return results.flatMap(({ correction, ...result }) =>
    correction === undefined ? [] : { ...result, correction },
  );
}
