import type { Migration } from "kysely";
import { identity } from "./001-identity.ts";
import { errorTaxonomies } from "./002-error-taxonomies.ts";
import { evaluatorProfiles } from "./003-evaluator-profiles.ts";
import { evaluationResults } from "./004-evaluation-results.ts";
import { sessions } from "./005-sessions.ts";
import { usage } from "./006-usage.ts";
import { errorFindings } from "./007-error-findings.ts";
import { sessionIssuers } from "./008-session-issuers.ts";
import { resultNumbers } from "./009-result-numbers.ts";
import { idempotentRequests } from "./010-idempotent-requests.ts";
import { resultClusters } from "./011-result-clusters.ts";
import { projects } from "./012-projects.ts";
import { cachedTokens } from "./013-cached-tokens.ts";
import { apiKeyLimits } from "./014-api-key-limits.ts";
import { datasets } from "./016-datasets.ts";
import { runs } from "./017-runs.ts";
import { tagRollup } from "./018-tag-rollup.ts";
import { usageByModel } from "./019-usage-by-model.ts";
import { capture } from "./020-capture.ts";
import { externalRuns } from "./021-external-runs.ts";
import { predictionsByRequest } from "./024-predictions-by-request.ts";
import { environments } from "./025-environments.ts";
import { orsSessions } from "./026-ors-sessions.ts";
import { deletion } from "./027-deletion.ts";
import { rolesAndAudit } from "./028-roles-and-audit.ts";
import { fewerPredictionIndexes } from "./029-fewer-prediction-indexes.ts";
import { closedAccounts } from "./030-closed-accounts.ts";
import { totalCounts } from "./031-total-counts.ts";
import { keysOfRuns } from "./032-keys-of-runs.ts";
import { runTries } from "./033-run-tries.ts";
import { datasetChanges } from "./034-dataset-changes.ts";

/**
 * The last migration of the oldest version that may run on today's schema, beside this one or again after it. To be moved forward with a
 * migration that such a version would contradict or ignore: docs/upgrades.md.
 */
export const oldestVersion = "028-roles-and-audit";

/** Migrations by name, in the order in which they run. Names of released migrations never change. */
export const migrations: Record<string, Migration> = {
  "001-identity": identity,
  "002-error-taxonomies": errorTaxonomies,
  "003-evaluator-profiles": evaluatorProfiles,
  "004-evaluation-results": evaluationResults,
  "005-sessions": sessions,
  "006-usage": usage,
  "007-error-findings": errorFindings,
  "008-session-issuers": sessionIssuers,
  "009-result-numbers": resultNumbers,
  "010-idempotent-requests": idempotentRequests,
  "011-result-clusters": resultClusters,
  "012-projects": projects,
  "013-cached-tokens": cachedTokens,
  "014-api-key-limits": apiKeyLimits,
  "016-datasets": datasets,
  "017-runs": runs,
  "018-tag-rollup": tagRollup,
  "019-usage-by-model": usageByModel,
  "020-capture": capture,
  "021-external-runs": externalRuns,
  "024-predictions-by-request": predictionsByRequest,
  "025-environments": environments,
  "026-ors-sessions": orsSessions,
  "027-deletion": deletion,
  "028-roles-and-audit": rolesAndAudit,
  "029-fewer-prediction-indexes": fewerPredictionIndexes,
  "030-closed-accounts": closedAccounts,
  "031-total-counts": totalCounts,
  "032-keys-of-runs": keysOfRuns,
  "033-run-tries": runTries,
  "034-dataset-changes": datasetChanges,
};
