import type { RunReport } from "@presage/contract";
import { describeAgainstRecords } from "@presage/contract/describe-runs";
import { undefinedIfGone } from "../../platform/errors.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { recordsName } from "../../worlds/complete-through-world.ts";
import { compareRuns } from "../compare/compare-runs.ts";
import { asksDeployment, type Run } from "../run.ts";
import { readInRanges } from "./outcomes-store.ts";
import { findRecordsRun, selectWorldCounts } from "./records-store.ts";

/** What a run's predictions leaned on, if its target is a world. */
export async function reportWorld(
  reader: Database,
  { id, target, repeats }: Run,
  samples: number,
): Promise<Pick<RunReport, "world">> {
  if (target.kind !== "world") return {};
  const world: NonNullable<RunReport["world"]> = { leaves_out: 0, near_duplicates: 0, answered_by: {} };
  for await (const rows of readInRanges(samples, repeats, (range) => selectWorldCounts(reader, id, range))) {
    for (const { deployment, predictions, leavesOut, nearDuplicates } of rows) {
      world.leaves_out += leavesOut;
      world.near_duplicates += nearDuplicates;
      if (deployment !== null)
        world.answered_by[deployment] = (world.answered_by[deployment] ?? 0) + predictions;
    }
  }
  return { world };
}

/** Whether a run's model beats what the records alone answer, if there is a run of them. */
export async function reportAgainstRecords(
  services: { store: Store },
  requester: Requester,
  run: Run,
): Promise<Pick<RunReport, "records">> {
  if (!asksDeployment(run)) return {};
  const records = await findRecordsRun(services.store.reader(requester), run);
  if (records === undefined) return {};
  const compared = await compareRuns(services, requester, [records, run]).catch(undefinedIfGone);
  if (compared === undefined) return {};
  const evaluators = compared.evaluators.flatMap(({ reference: _, candidates: [candidate], ...names }) => {
    if (candidate === undefined) return [];
    const { difference, interval, outcome } = candidate;
    const sentence = describeAgainstRecords(candidate);
    return [{ ...names, difference, interval, outcome, sentence }];
  });
  return { records: { run_id: records.id, name: records.name, evaluators } };
}

/** More near duplicates than this are worth a warning. */
const shareToSay = 0.05;

/** What makes the figures of a run through a world less certain. */
export function worldWarnings({ target }: Run, { world }: Pick<RunReport, "world">): string[] {
  if (world === undefined) return [];
  const { near_duplicates: near, answered_by: answeredBy } = world;
  const answers = Object.values(answeredBy).reduce((sum, count) => sum + count, 0);
  const ofRecords = answeredBy[recordsName] ?? 0;
  const share = (count: number, what: string) =>
    `${count} of ${answers} ${what} (${Math.round((100 * count) / answers)} %)`;
  return [
    ...(target.kind === "world" && target.asksModel && ofRecords > 0
      ? [`${share(ofRecords, "answers")} are of the records alone, as the deployment could not be reached.`]
      : []),
    ...(near > answers * shareToSay
      ? [
          `Near duplicates: for ${share(near, "predictions")}, an example has the same fields and the same next state, in another trajectory. Split the dataset by another tag, such as its tasks, for figures of what is new.`,
        ]
      : []),
  ];
}
