import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { findQueryError, usePresage } from "../../data/client.ts";
import { everRanQuery } from "../../data/runs.ts";
import { evaluationCountQuery } from "../../data/summaries.ts";
import { everPredictedQuery } from "../../data/usage.ts";
import { readStored, signedInUserId, store } from "../../session.ts";

/** Which first steps a user has taken. */
export interface FirstSteps {
  hasKey: boolean;
  hasPredicted: boolean;
  hasEvaluated: boolean;
  hasRun: boolean;
}

const storageKey = () => `presage-first-steps-done:${signedInUserId()}`;

/**
 * The steps are undefined until they are known, and null once all are done. The latter is remembered, so that the page need not
 * wait for them again.
 */
export function useFirstSteps(): {
  steps: FirstSteps | null | undefined;
  failure: ReturnType<typeof findQueryError>;
} {
  const presage = usePresage();
  const [isDone] = useState(() => readStored(storageKey()) !== undefined);
  const enabled = !isDone;
  const keys = useQuery({ ...apiKeysQuery(presage), enabled });
  const predicted = useQuery({ ...everPredictedQuery(presage), enabled });
  const evaluated = useQuery({ ...evaluationCountQuery(presage), enabled });
  const ran = useQuery({ ...everRanQuery(presage), enabled });
  const hasPredicted = predicted.data;
  const hasEvaluated = evaluated.data === undefined ? undefined : evaluated.data > 0;
  // The steps are shown until there is a run, as they lead to one.
  const areAllDone = hasPredicted === true && hasEvaluated === true && ran.data === true;
  useEffect(() => {
    if (areAllDone) store(storageKey(), new Date().toISOString());
  }, [areAllDone]);
  const failure = findQueryError([keys, predicted, evaluated, ran]);
  if (isDone || areAllDone) return { steps: null, failure: undefined };
  if (keys.data === undefined || ran.data === undefined) return { steps: undefined, failure };
  if (hasPredicted === undefined || hasEvaluated === undefined) return { steps: undefined, failure };
  const hasKey = keys.data.some(({ revoked_at }) => !revoked_at);
  return { steps: { hasKey, hasPredicted, hasEvaluated, hasRun: ran.data }, failure };
}
