import type { RunFigures, RunReport } from "@presage/contract";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { readExternalResults } from "../external/read-external-results.ts";
import type { Run } from "../run.ts";
import { reportDimensions, reportOutcomes } from "./report-strata.ts";
import type { Dimension } from "./strata.ts";

/** Figures of a run that its client makes, from the results that name it. */
export async function reportExternal(
  reader: Database,
  run: Run,
): Promise<{ evaluators: RunReport["evaluators"]; failures: Record<string, number> }> {
  const { samples, evaluators } = await readExternalResults(reader, run);
  const dimensions = {
    ...(await reportDimensions(samples)),
    trajectory: namedTrajectories(samples.trajectories),
  };
  const reports: RunReport["evaluators"] = [];
  const failures: Record<string, number> = {};
  for (const evaluator of evaluators) {
    const outcomes = evaluator.outcomes();
    const { strata, ...report } = await reportOutcomes(dimensions, samples, outcomes);
    const shown = <Figures extends RunFigures>(figures: Figures) =>
      evaluator.hasPasses ? figures : { ...figures, ...withoutPasses };
    reports.push({
      ...evaluator.names,
      ...shown(report),
      strata: {
        step: strata.step.map(shown),
        trajectory: strata.trajectory.map(shown),
        // The states were never compared.
        changed: [],
        changes: [],
        verb: [],
        tag: strata.tag.map(shown),
      },
    });
    for (const [why, count] of Object.entries(outcomes.failures))
      failures[why] = (failures[why] ?? 0) + count;
  }
  return { evaluators: reports, failures };
}

const withoutPasses = {
  pass_rate: null,
  pass_standard_error: null,
  pass_interval: null,
  pass_lower_if_missing: null,
  pass_rate_failures_as_zero: null,
};

/** Clusters without a name are samples of their own. */
function namedTrajectories({ texts, of }: Pick<Dimension, "of"> & { texts: readonly string[] }): Dimension {
  return { keys: texts, of: of.map((number) => (texts[number] === "" ? -1 : number)) };
}
