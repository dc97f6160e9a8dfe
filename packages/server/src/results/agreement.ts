import {
  AgreementResponse,
  DisagreementListResponse,
  DisagreementQuery,
  defaultDisagreements,
  EvaluatorProfilePath,
} from "@presage/contract";
import { asCriteria, asProfiles, type ProfileNaming } from "../evaluators/old-names.ts";
import { profileNotFound } from "../evaluators/profiles/profiles-route.ts";
import { type ProfileRevision, selectProfile } from "../evaluators/profiles/profiles-store.ts";
import { response } from "../http/describe.ts";
import { reply, route } from "../http/route.ts";
import { notFound } from "../platform/errors.ts";
import {
  clusteredError,
  momentsOfClusters,
  rateInterval,
  wilsonInterval,
} from "../platform/statistics/intervals.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type AgreementCell, selectAgreementCells, selectDisagreements } from "./corrections-store.ts";
import examples from "./examples.json" with { type: "json" };
import { selectResults } from "./write/stored-results-store.ts";

interface AgreementServices {
  store: Store;
  builtInProfiles: readonly ProfileRevision[];
}

type RevisionAgreement = AgreementResponse["revisions"][number];

export const agreementRoutes = [asProfiles, asCriteria].flatMap((naming) => [
  agreementUnder(naming),
  disagreementsUnder(naming),
]);

function agreementUnder({ path, idOfOne, word, sameAs }: ProfileNaming) {
  return route("GET", `${path}/:public_id/agreement`, {
    needs: "read",
    id: `get${idOfOne}Agreement`,
    summary: `Show how far people agree with ${word}`,
    description: `Compares the verdicts of each revision with people's corrections: how often they agreed, and in which direction the evaluator errs.${sameAs("GET", "/{public_id}/agreement")}`,
    params: EvaluatorProfilePath,
    responses: {
      "200": response(
        "Each revision's agreement with the account's corrections",
        AgreementResponse,
        examples.agreement,
      ),
      ...profileNotFound,
    },
    async handle(services: AgreementServices, { requester, params }) {
      const public_id = params.public_id.toLowerCase();
      return reply(200, { public_id, revisions: await measureAgreement(services, requester, public_id) });
    },
  });
}

function disagreementsUnder({ path, idOfOne, word, sameAs }: ProfileNaming) {
  return route("GET", `${path}/:public_id/disagreements`, {
    needs: "read",
    id: `list${idOfOne}Disagreements`,
    summary: `List what people decided otherwise than ${word}`,
    description: `Lists the results of all revisions whose verdict a person's latest correction reverses.${sameAs("GET", "/{public_id}/disagreements")}`,
    params: EvaluatorProfilePath,
    query: DisagreementQuery,
    allowsUnknown: true,
    responses: {
      "200": response(
        "The results, the latest corrections first",
        DisagreementListResponse,
        examples.disagreements,
      ),
      ...profileNotFound,
    },
    async handle(services: AgreementServices, { requester, params, query }) {
      const limit = Number(query.limit ?? defaultDisagreements);
      const data = await listDisagreements(services, requester, params.public_id.toLowerCase(), limit);
      return reply(200, { data });
    },
  });
}

/** How far an account's corrections agree with each revision of a profile, the newest first. */
async function measureAgreement(
  { store, builtInProfiles }: AgreementServices,
  requester: Requester,
  publicId: string,
): Promise<RevisionAgreement[]> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const builtIn = builtInProfiles.find(({ public_id }) => public_id === publicId);
  const lastRevision = builtIn?.revision ?? (await selectProfile(reader, accountId, publicId))?.last_revision;
  if (lastRevision === undefined) throw notFound("evaluator profile");
  const cells = Map.groupBy(
    await selectAgreementCells(reader, accountId, publicId),
    ({ revision }) => revision,
  );
  return Array.from({ length: lastRevision }, (_, index) => lastRevision - index).map((revision) => ({
    revision,
    ...addUp(cells.get(revision) ?? []),
  }));
}

/** The most characters of a text that a list shows. */
const maxTextCharacters = 300;

/** Results of a profile whose verdict a person has reversed, latest corrections first, with the beginnings of their texts. */
async function listDisagreements(
  { store, builtInProfiles }: AgreementServices,
  requester: Requester,
  publicId: string,
  limit: number,
): Promise<DisagreementListResponse["data"]> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const isBuiltIn = builtInProfiles.some(({ public_id }) => public_id === publicId);
  if (!isBuiltIn && (await selectProfile(reader, accountId, publicId)) === undefined)
    throw notFound("evaluator profile");
  const ids = await selectDisagreements(reader, accountId, publicId, limit);
  const results = await selectResults(reader, accountId, ids, maxTextCharacters);
  return results.flatMap(({ id, evaluatorId, profile, outcome, correction, createdAt, sample }) =>
    correction === undefined
      ? []
      : [
          {
            result_id: String(id),
            evaluator_id: evaluatorId,
            revision: profile?.revision ?? null,
            pass: outcome.pass === true,
            score_raw: outcome.score ?? null,
            created_at: toIsoInstant(createdAt),
            correction,
            output: sample.output ?? null,
          },
        ],
  );
}

function addUp(cells: readonly AgreementCell[]): Omit<RevisionAgreement, "revision"> {
  const countOf = (evaluatorPass: number, personPass: number) =>
    cells
      .filter((cell) => cell.evaluator_pass === evaluatorPass && cell.person_pass === personPass)
      .reduce((sum, { count }) => sum + count, 0);
  // Passed by the evaluator and not by the person, and the other way round.
  const should_fail = countOf(1, 0);
  const should_pass = countOf(0, 1);
  const agreed = countOf(1, 1) + countOf(0, 0);
  const corrected = agreed + should_fail + should_pass;
  return {
    corrected,
    agreed,
    should_fail,
    should_pass,
    agreement: corrected === 0 ? null : agreed / corrected,
    ...intervalOf(cells, agreed, corrected),
  };
}

function intervalOf(
  cells: readonly AgreementCell[],
  agreed: number,
  corrected: number,
): Pick<RevisionAgreement, "agreement_interval" | "interval_method" | "clusters"> {
  const judged = cells.filter(({ evaluator_pass }) => evaluator_pass !== null);
  if (judged.every(({ cluster_id }) => cluster_id === null)) {
    const agreement_interval = wilsonInterval(agreed, corrected);
    return { agreement_interval, interval_method: "independent", clusters: null };
  }
  const sums = Map.groupBy(judged, ({ cluster_id }) => cluster_id)
    .entries()
    .flatMap(([clusterId, ofCluster]) => (clusterId === null ? alone(ofCluster) : [addAgreed(ofCluster)]));
  const moments = momentsOfClusters(sums);
  return {
    agreement_interval: rateInterval(moments, clusteredError(moments)),
    interval_method: "clustered",
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

/** A result without a cluster is a cluster by itself. */
function alone(cells: readonly AgreementCell[]): Agreed[] {
  return cells.flatMap((cell) =>
    Array.from({ length: cell.count }, () => ({ count: 1, sum: Number(hasAgreed(cell)) })),
  );
}

function hasAgreed({ evaluator_pass, person_pass }: AgreementCell): boolean {
  return evaluator_pass === person_pass;
}
