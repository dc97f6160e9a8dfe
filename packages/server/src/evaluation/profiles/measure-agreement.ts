import type { Requester } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { wilsonInterval } from "../statistics/wilson-interval.ts";
import { type AgreementCell, selectAgreementCells } from "./agreement-store.ts";
import { noSuchProfile } from "./find-profile.ts";
import { selectProfile } from "./profiles-store.ts";

/** How far people's corrections agree with one revision of a profile. */
export interface RevisionAgreement {
  revision: number;
  corrected: number;
  agreed: number;
  /** Passed by the evaluator and not by the person. */
  shouldFail: number;
  /** Passed by the person and not by the evaluator. */
  shouldPass: number;
  agreement: number | null;
  agreementInterval: ReturnType<typeof wilsonInterval>;
}

/** How far an account's corrections agree with each revision of a profile, the newest first. */
export async function measureAgreement(
  { store, builtInProfiles }: Pick<EvaluationServices, "store" | "builtInProfiles">,
  requester: Requester,
  publicId: string,
): Promise<RevisionAgreement[]> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const builtIn = builtInProfiles.find(({ public_id }) => public_id === publicId);
  const lastRevision = builtIn?.revision ?? (await selectProfile(reader, accountId, publicId))?.last_revision;
  if (lastRevision === undefined) throw noSuchProfile();
  const cells = Map.groupBy(
    await selectAgreementCells(reader, accountId, publicId),
    ({ revision }) => revision,
  );
  return Array.from({ length: lastRevision }, (_, index) => lastRevision - index).map((revision) => ({
    revision,
    ...addUp(cells.get(revision) ?? []),
  }));
}

function addUp(cells: readonly AgreementCell[]): Omit<RevisionAgreement, "revision"> {
  const countOf = (evaluatorPass: number, personPass: number) =>
    cells.find((cell) => cell.evaluator_pass === evaluatorPass && cell.person_pass === personPass)?.count ??
    0;
  const shouldFail = countOf(1, 0);
  const shouldPass = countOf(0, 1);
  const agreed = countOf(1, 1) + countOf(0, 0);
  const corrected = agreed + shouldFail + shouldPass;
  return {
    corrected,
    agreed,
    shouldFail,
    shouldPass,
    agreement: corrected === 0 ? null : agreed / corrected,
    agreementInterval: wilsonInterval(agreed, corrected),
  };
}
