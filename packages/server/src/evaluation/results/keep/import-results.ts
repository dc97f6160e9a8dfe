import type { EvaluatorOutcome } from "../../evaluator-outcome.ts";
import type { Sample } from "../../sample.ts";
import type { Filing, KeptResult } from "../record/evaluation-record.ts";
import type { ResultsKeeper } from "./keep-results.ts";

/** A result that was made elsewhere. Of its evaluator and its profile no more than the names are known. */
export interface ImportedResult {
  evaluatorId: string;
  profileName: string | undefined;
  sample: Sample;
  filing: Filing;
  outcome: Omit<EvaluatorOutcome, "status">;
}

/** Keeps results that were made elsewhere, all of them or none; each once under its request key, if it has one. */
export async function importResults(
  keeper: ResultsKeeper,
  accountId: string,
  results: readonly ImportedResult[],
  requestKeys: readonly string[] = [],
): Promise<KeptResult[]> {
  return await keeper.keep(
    results.map(({ evaluatorId, profileName, sample, filing, outcome }, index) => ({
      accountId,
      evaluatorId,
      ...(requestKeys[index] === undefined ? {} : { requestKey: requestKeys[index] }),
      ...(profileName === undefined ? {} : { profile: { name: profileName } }),
      explainStrategy: outcome.explanation === undefined ? "never" : "always",
      isExternal: true,
      sample,
      filing,
      outcome: { ...outcome, status: "success" },
    })),
  );
}
