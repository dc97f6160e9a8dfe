import { noSuchProfile } from "../evaluators/profiles/find-profile.ts";
import { selectProfile } from "../evaluators/profiles/profiles-store.ts";
import {
  clusteredError,
  momentsOfClusters,
  rateInterval,
} from "../platform/statistics/clustered-interval.ts";
import { wilsonInterval } from "../platform/statistics/wilson-interval.ts";
import type { Requester } from "../platform/storage/reader.ts";
import { type AgreementCell, selectAgreementCells } from "./agreement-store.ts";
import type { EvaluationServices } from "./evaluation-services.ts";

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
