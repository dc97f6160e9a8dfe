import { ServiceError } from "../../platform/errors.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { isClientRun, isSameEvaluator, type Run, type RunEvaluator } from "../run.ts";
import { refuseDeleted } from "../runs.ts";
import {
  type ComparedSampleCursor,
  type ComparedSampleRow,
  type ComparedVerdicts,
  selectComparedSamples,
} from "./compared-samples-store.ts";

interface WantedSamples {
  reference: Run;
  candidate: Run;
  /** By its id or its family's name. */
  evaluator: string;
  profileName: string | undefined;
  direction: "worse" | "better";
}

/** One page of the samples that got worse or better, the most different first. */
export async function listComparedSamples(
  { store }: { store: Store },
  requester: Requester,
  { reference, candidate, direction, profileName, ...wanted }: WantedSamples,
  { limit, after }: { limit: number; after: ComparedSampleCursor | undefined },
): Promise<{ samples: ComparedSampleRow[]; next: ComparedSampleCursor | undefined }> {
  if (isClientRun(reference) || isClientRun(candidate))
    throw new ServiceError(
      "conflict",
      "A run's target is external: its samples are found by its results, with the search.",
    );
  const evaluator = reference.evaluators.find(
    (one) =>
      (one.id === wanted.evaluator || one.family === wanted.evaluator) &&
      (profileName === undefined || one.profile.name === profileName) &&
      candidate.evaluators.some((other) => isSameEvaluator(one, other)),
  );
  if (evaluator === undefined) throw noCommonEvaluator();
  const verdicts = {
    reference: verdictsOf(reference, evaluator),
    candidate: verdictsOf(candidate, evaluator),
  };
  const rows = await selectComparedSamples(store.reader(requester), verdicts, direction, {
    limit: limit + 1,
    after,
  });
  await refuseDeleted({ store }, requester, [reference, candidate]);
  const samples = rows.slice(0, limit);
  const last = rows.length > limit ? samples.at(-1) : undefined;
  return { samples, next: last && { distance: last.distance, position: last.reference_position } };
}

function verdictsOf(run: Run, evaluator: RunEvaluator): ComparedVerdicts {
  return {
    runId: run.id,
    revisionId: run.dataset?.revisionId ?? 0,
    evaluator: run.evaluators.findIndex((one) => isSameEvaluator(one, evaluator)),
  };
}

function noCommonEvaluator(): ServiceError {
  return new ServiceError(
    "not_found",
    "The runs do not both have this evaluator with the same revision of the same profile.",
  );
}
