import { noSuchProfile } from "../evaluators/profiles/find-profile.ts";
import { type ProfileRevision, selectProfile } from "../evaluators/profiles/profiles-store.ts";
import {
  clusteredError,
  momentsOfClusters,
  rateInterval,
  wilsonInterval,
} from "../platform/statistics/intervals.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { selectDisagreements } from "./corrections-store.ts";
import type { StoredResult } from "./result.ts";
import { latestCorrectionId, selectResults } from "./write/stored-results-store.ts";

/** How many results of a revision and a cluster have this pair of verdicts, the evaluator's and a person's. */
export interface AgreementCell {
  revision: number | null;
  evaluator_pass: number | null;
  person_pass: number;
  cluster_id: number | null;
  count: number;
}

/** Compares the latest corrections of an account's results of a profile with the evaluator's verdicts. */
export async function selectAgreementCells(
  reader: Database,
  accountId: string,
  publicId: string,
): Promise<AgreementCell[]> {
  return await reader
    .selectFrom("evaluation_corrections as correction")
    .innerJoin("evaluation_results as result", "result.id", "correction.result_id")
    .select([
      "result.profile_revision as revision",
      "result.pass as evaluator_pass",
      "correction.pass as person_pass",
      "result.cluster_id",
    ])
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("correction.account_id", "=", accountId)
    .where("correction.profile_public_id", "=", publicId)
    .where("correction.id", "=", latestCorrectionId(reader, "correction.result_id"))
    .groupBy(["result.profile_revision", "result.pass", "correction.pass", "result.cluster_id"])
    .execute();
}

export type CorrectedResult = StoredResult & { correction: NonNullable<StoredResult["correction"]> };

/** What a list shows of a text. */
const maxTextCharacters = 300;

/** Results of a profile whose verdict a person has turned round, the latest corrections first, with the beginnings of their texts. */
export async function listDisagreements(
  { store, builtInProfiles }: { store: Store; builtInProfiles: readonly ProfileRevision[] },
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
  intervalMethod: "clustered" | "independent";
  /** Null unless the interval is clustered. */
  clusters: number | null;
}

/** How far an account's corrections agree with each revision of a profile, the newest first. */
export async function measureAgreement(
  { store, builtInProfiles }: { store: Store; builtInProfiles: readonly ProfileRevision[] },
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
    cells
      .filter((cell) => cell.evaluator_pass === evaluatorPass && cell.person_pass === personPass)
      .reduce((sum, { count }) => sum + count, 0);
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
    ...intervalOf(cells, agreed, corrected),
  };
}

function intervalOf(
  cells: readonly AgreementCell[],
  agreed: number,
  corrected: number,
): Pick<RevisionAgreement, "agreementInterval" | "intervalMethod" | "clusters"> {
  const judged = cells.filter(({ evaluator_pass }) => evaluator_pass !== null);
  if (judged.every(({ cluster_id }) => cluster_id === null)) {
    const agreementInterval = wilsonInterval(agreed, corrected);
    return { agreementInterval, intervalMethod: "independent", clusters: null };
  }
  const sums = Map.groupBy(judged, ({ cluster_id }) => cluster_id)
    .entries()
    .flatMap(([clusterId, ofCluster]) => (clusterId === null ? alone(ofCluster) : [addAgreed(ofCluster)]));
  const moments = momentsOfClusters(sums);
  return {
    agreementInterval: rateInterval(moments, clusteredError(moments)),
    intervalMethod: "clustered",
    clusters: moments.clusters,
  };
}

interface Agreed {
  count: number;
  sum: number;
}

function addAgreed(cells: readonly AgreementCell[]): Agreed {
  return {
    count: cells.reduce((sum, { count }) => sum + count, 0),
    sum: cells.reduce((sum, cell) => sum + (hasAgreed(cell) ? cell.count : 0), 0),
  };
}

/** A result without a cluster is one of its own. */
function alone(cells: readonly AgreementCell[]): Agreed[] {
  return cells.flatMap((cell) =>
    Array.from({ length: cell.count }, () => ({ count: 1, sum: Number(hasAgreed(cell)) })),
  );
}

function hasAgreed({ evaluator_pass, person_pass }: AgreementCell): boolean {
  return evaluator_pass === person_pass;
}
