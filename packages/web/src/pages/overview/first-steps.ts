import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { usePresage } from "../../data/client.ts";
import { everRanQuery } from "../../data/runs.ts";
import { evaluationCountQuery, type PeriodSummary } from "../../data/summaries.ts";
import { type ComparedUsage, everPredictedQuery, isPrediction } from "../../data/usage.ts";
import { signedInUserId } from "../../session.ts";

/** What a new user has not done yet. */
export interface FirstSteps {
  hasKey: boolean;
  hasPredicted: boolean;
  hasEvaluated: boolean;
  hasRun: boolean;
}

interface FirstStepsOptions {
  usage: ComparedUsage | undefined;
  summary: PeriodSummary | undefined;
}

const storageKey = () => `presage-first-steps-done:${signedInUserId()}`;

/**
 * Undefined until everything is known; null once all is done, which is remembered, so that the page of someone who began long ago
 * waits for nothing.
 */
export function useFirstSteps({ usage, summary }: FirstStepsOptions): FirstSteps | null | undefined {
  const presage = usePresage();
  const [isDone] = useState(wereDone);
  const predictsNow = usage?.current.data.some(isPrediction);
  const evaluatesNow = summary && summary.all.count > 0;
  const { data: keys } = useQuery({ ...apiKeysQuery(presage), enabled: !isDone });
  const { data: predictedBefore } = useQuery({
    ...everPredictedQuery(presage),
    enabled: !isDone && predictsNow === false,
  });
  const { data: evaluationCount } = useQuery({
    ...evaluationCountQuery(presage),
    enabled: !isDone && evaluatesNow === false,
  });
  const { data: hasRun } = useQuery({ ...everRanQuery(presage), enabled: !isDone });
  const hasPredicted = predictsNow || predictedBefore;
  const hasEvaluated = evaluatesNow || (evaluationCount === undefined ? undefined : evaluationCount > 0);
  const areAllDone = hasPredicted === true && hasEvaluated === true;
  useEffect(() => {
    if (areAllDone) rememberDone();
  }, [areAllDone]);
  if (isDone || areAllDone) return null;
  const isUnknown = hasPredicted === undefined || hasEvaluated === undefined || hasRun === undefined;
  if (keys === undefined || isUnknown) return undefined;
  return { hasKey: keys.some(({ revoked_at }) => !revoked_at), hasPredicted, hasEvaluated, hasRun };
}

function wereDone(): boolean {
  try {
    return localStorage.getItem(storageKey()) !== null;
  } catch {
    // Storage that is denied is like an empty one.
    return false;
  }
}

function rememberDone(): void {
  try {
    localStorage.setItem(storageKey(), new Date().toISOString());
  } catch {
    // It is found out again next time.
  }
}
