import type { StoredWorld, WorldScores } from "@presage/contract";
import { sql } from "kysely";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { hasSamplesOf, type Run, type RunTarget } from "../run.ts";
import { selectFinished, selectRun } from "../runs-store.ts";
import { type PositionRange, predictionsIn } from "./outcomes-store.ts";

/** What a run's predictions through a world have in common. */
export interface WorldCounts {
  deployment: string | null;
  predictions: number;
  leavesOut: number;
  nearDuplicates: number;
}

/** What is kept beside a run's prediction through a world. */
interface KeptAnswer {
  /** The sample's own trajectory was no example. */
  leavesOut: boolean;
  /** An example is nearly the sample. */
  nearDuplicate: boolean;
  world: StoredWorld;
}

/** As JSON, which begins with what is counted. */
export function toKeptText({ leavesOut, nearDuplicate, world }: KeptAnswer): string {
  return `${beginningOf(leavesOut, nearDuplicate)}${JSON.stringify(world)}}`;
}

function beginningOf(leavesOut: boolean | "%", nearDuplicate: boolean | "%"): string {
  return `{"leaves_out":${leavesOut},"near_duplicate":${nearDuplicate},"world":`;
}

function countBeginning(...beginning: Parameters<typeof beginningOf>) {
  return sql<number>`sum(case when payload.request like ${`${beginningOf(...beginning)}%`} then 1 else 0 end)`;
}

/** Of a run's predictions of some samples, by what answered. */
export async function selectWorldCounts(
  reader: Database,
  runId: string,
  { after, upTo }: PositionRange,
): Promise<WorldCounts[]> {
  return await reader
    .selectFrom("predictions as prediction")
    .innerJoin("prediction_payloads as payload", "payload.prediction_id", "prediction.id")
    .select((of) => [
      "prediction.deployment",
      of.fn.countAll<number>().as("predictions"),
      countBeginning(true, "%").as("leavesOut"),
      countBeginning("%", true).as("nearDuplicates"),
    ])
    .where("prediction.run_id", "=", runId)
    .where("prediction.status", "=", "success")
    .where("prediction.position", ">", after)
    .where("prediction.position", "<=", upTo)
    .groupBy("prediction.deployment")
    .execute();
}

/** What is kept of a run's predictions of some samples through a world. */
export async function selectKeptWorlds(reader: Database, runId: string, range: PositionRange) {
  const rows = await predictionsIn(reader, runId, range)
    .innerJoin("prediction_payloads as payload", "payload.prediction_id", "predictions.id")
    .select("payload.request")
    .where("status", "=", "success")
    .execute();
  return rows.map(({ position, repeat, request }) => {
    // The runner wrote it.
    const { world } = JSON.parse(request ?? "{}") as { world?: StoredWorld };
    return { position, repeat, world };
  });
}

/** How sure they were, by each method of the world. The numbers of one that was escalated are of another answer. */
export async function selectWorldScores(
  ...of: Parameters<typeof selectKeptWorlds>
): Promise<{ position: number; repeat: number; scores: WorldScores }[]> {
  const kept = await selectKeptWorlds(...of);
  return kept.flatMap(({ world, ...at }) =>
    world?.escalated ? [] : [{ ...at, scores: world?.scores ?? {} }],
  );
}

const runsAtOnce = 100;

/** The newest finished run of the same revision and mode that the records alone answered; one of the latest 100 without a bare deployment. */
export async function findRecordsRun(
  reader: Database,
  { id, account_id: accountId, dataset, mode, provenance }: Run,
): Promise<Run | undefined> {
  if (dataset === undefined) return undefined;
  const rows = await selectFinished(reader, accountId)
    .select(["id", "target", "provenance"])
    .where("dataset_id", "=", dataset.datasetId)
    .where("revision_id", "=", dataset.revisionId)
    .where("mode", "=", mode)
    .where("target_kind", "in", ["baseline", "world"])
    .where("id", "!=", id)
    .limit(runsAtOnce)
    .execute();
  const found = rows.find(
    (row) =>
      isOfRecords(JSON.parse(row.target) as RunTarget) &&
      hasSamplesOf(JSON.parse(row.provenance) as Run["provenance"], provenance),
  );
  return found && (await selectRun(reader, accountId, found.id));
}

function isOfRecords(target: RunTarget): boolean {
  return target.kind === "retrieval" || (target.kind === "world" && !target.asksModel);
}

/** The id of the newest finished run through a world's revision; of one of the latest 100 that is not leaky, if there is such, and rather no pilot. */
export async function findWorldRun(
  reader: Database,
  accountId: string,
  { name, revision }: { name: string; revision: number },
) {
  const rows = await selectFinished(reader, accountId)
    .select(["id", "provenance"])
    .where("target_kind", "=", "world")
    .where("target", "like", `{"kind":"world","name":"${name}","revision":${revision},%`)
    .limit(runsAtOnce)
    .execute();
  const runs = rows.map(({ id, provenance }) => ({ id, ...(JSON.parse(provenance) as Run["provenance"]) }));
  const sound = runs.filter(({ leaky }) => !leaky);
  return (sound.find(({ draw }) => !draw) ?? sound[0] ?? runs[0])?.id;
}
