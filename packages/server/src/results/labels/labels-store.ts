import { sql } from "kysely";
import { externalPrefix } from "../../evaluators/outcome.ts";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../../platform/storage/lists.ts";
import { insertRows } from "../../platform/storage/rows.ts";
import type {
  EvaluationLabelsTable,
  LabelSampleItemsTable,
  LabelSamplesTable,
} from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

export type Annotator = Pick<EvaluationLabelsTable, "user_id" | "annotator">;

export type LabelRow = Omit<EvaluationLabelsTable, "account_id" | "correction_id"> & { email: string | null };

/** The labels of some results, oldest first. */
export async function selectLabels(reader: Database, resultIds: readonly number[]): Promise<LabelRow[]> {
  if (resultIds.length === 0) return [];
  return await reader
    .selectFrom("evaluation_labels as label")
    .leftJoin("users", "users.id", "label.user_id")
    .select(["label.id", "result_id", "user_id", "annotator", "pass", "score"])
    .select(["label.created_at", "users.email"])
    .where("result_id", "in", resultIds)
    .orderBy("label.created_at")
    .orderBy("label.id")
    .execute();
}

/** A person's label of a locked result, if there is one. */
export async function selectOwnLabel(
  transaction: Database,
  resultId: number,
  { user_id, annotator }: Annotator,
) {
  return await transaction
    .selectFrom("evaluation_labels")
    .select(["id", "correction_id"])
    .where("result_id", "=", resultId)
    .where("user_id", user_id === null ? "is" : "=", user_id)
    .where("annotator", annotator === null ? "is" : "=", annotator)
    .executeTakeFirst();
}

export async function deleteLabel(transaction: Database, id: string) {
  await transaction.deleteFrom("evaluation_labels").where("id", "=", id).execute();
}

export async function insertLabel(transaction: Database, row: EvaluationLabelsTable) {
  await transaction.insertInto("evaluation_labels").values(row).execute();
}

/** The evaluator's own verdict; undefined without one. */
export async function selectVerdict(transaction: Database, resultId: number) {
  const row = await transaction
    .selectFrom("evaluation_results")
    .select(["pass", "score"])
    .where("id", "=", resultId)
    .where("status", "=", "success")
    .executeTakeFirst();
  if (row === undefined || row.pass === null) return undefined;
  return { isPass: row.pass === 1, isGraded: row.score !== null };
}

/** A result that lines may name, by its id or by its run and sample. */
export type NamedResult = Awaited<ReturnType<typeof selectNamedResults>>[number];

/** An account's results with a verdict whose id, or whose run and sample key, is among these. */
export async function selectNamedResults(
  reader: Database,
  accountId: string,
  named: { ids: readonly number[] } | { runId: string; sampleKeys: readonly string[] },
) {
  return await reader
    .selectFrom("evaluation_results")
    .select(["id", "run_id", "experiment_id", "sample_key"])
    .select(["evaluator_id", "evaluator_family", "profile_name"])
    .where("account_id", "=", accountId)
    .where("status", "=", "success")
    .where("pass", "is not", null)
    .where((of) =>
      "ids" in named
        ? of("id", "in", named.ids)
        : of.and([
            of("sample_key", "in", named.sampleKeys),
            of.or([of("run_id", "=", named.runId), of("experiment_id", "=", named.runId)]),
          ]),
    )
    .execute();
}

/** Selects an evaluator's verdicts, of one run or of all. Names of imported ones are without their prefix, as in the store. */
export interface VerdictsOf {
  runId: string | undefined;
  evaluatorId: string;
  isExternal: boolean;
  profileName: string | null;
  profileId?: string | undefined;
  profileRevision?: number | undefined;
}

/** An evaluator as the API names it, as results store it. */
export function storedEvaluator(name: string): Pick<VerdictsOf, "evaluatorId" | "isExternal"> {
  const isExternal = name.startsWith(externalPrefix);
  return { evaluatorId: isExternal ? name.slice(externalPrefix.length) : name, isExternal };
}

/** A verdict that could be drawn. */
export interface DrawableRow {
  id: number;
  pass: number;
  /** Whether the output is the gold answer, ignoring white space at the ends. */
  is_equal: number;
  /** The trajectory or sample. */
  cluster_id: string | null;
}

const rowsAtOnce = 2_000;

/** All verdicts of an evaluator in a run, some at a time. */
export async function* selectDrawable(
  reader: Database,
  accountId: string,
  { runId, evaluatorId, isExternal, profileName, isOfClient }: VerdictsOf & { isOfClient: boolean },
): AsyncGenerator<DrawableRow[], void> {
  const trimmed = (column: string) => sql`trim(${sql.ref(column)}, ${" \t\r\n"})`;
  const profile =
    profileName === null ? sql`result.profile_name is null` : sql`result.profile_name = ${profileName}`;
  // Results that a client made may name the run in one column or the other.
  for (const column of isOfClient ? ["run_id", "experiment_id"] : ["run_id"]) {
    for (let after = 0, more = true; more; ) {
      const { rows } = await sql<DrawableRow>`
        select result.id, result.pass, result.cluster_id,
          coalesce(result.is_equal, case when ${trimmed("payload.output")} = ${trimmed("payload.gold_answer")} then 1 else 0 end) as is_equal
        from evaluation_results as result inner join evaluation_payloads as payload on payload.result_id = result.id
        where result.account_id = ${accountId} and result.status = 'success' and result.pass is not null
          and ${sql.ref(`result.${column}`)} = ${runId}
          ${column === "run_id" ? sql`and (result.experiment_id is null or result.experiment_id <> result.run_id)` : sql``}
          and result.evaluator_id = ${evaluatorId} and result.is_external = ${isExternal ? 1 : 0} and ${profile}
          and result.id > ${after}
        order by result.id limit ${rowsAtOnce}`.execute(reader);
      if (rows.length > 0) yield rows;
      after = rows.at(-1)?.id ?? after;
      more = rows.length === rowsAtOnce;
    }
  }
}

export async function insertLabelSample(
  transaction: Database,
  row: LabelSamplesTable,
  items: readonly LabelSampleItemsTable[],
) {
  await transaction.insertInto("label_samples").values(row).execute();
  await insertRows(transaction, "label_sample_items", items);
}

/** A run's draws, the newest first. */
export async function selectLabelSamples(
  reader: Database,
  accountId: string,
  runId: string,
  page: KeysetPage,
): Promise<ListPart<LabelSamplesTable>> {
  const ofRun = reader
    .selectFrom("label_samples")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("run_id", "=", runId);
  return await selectNewestFirst(ofRun, page);
}

/** All of an account's draws, or those of one of its runs, with what their probabilities are computed from. */
export async function selectDraws(reader: Database, accountId: string, runId: string | undefined) {
  return await reader
    .selectFrom("label_samples")
    .select(["run_id", "evaluator_id", "is_external", "profile_name", "seed", "strata"])
    .where("account_id", "=", accountId)
    .$if(runId !== undefined, (query) => query.where("run_id", "=", runId ?? ""))
    .execute();
}

/** One of an account's draws, if it exists. */
export async function selectLabelSample(
  reader: Database,
  accountId: string,
  id: string,
): Promise<LabelSamplesTable[]> {
  return await reader
    .selectFrom("label_samples")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .execute();
}

/** The labelled results that these draws contain. */
export async function selectDrawnResults(reader: Database, accountId: string, runId: string | undefined) {
  const rows = await reader
    .selectFrom("label_samples as sample")
    .innerJoin("label_sample_items as item", "item.sample_id", "sample.id")
    .innerJoin("evaluation_labels as label", "label.result_id", "item.result_id")
    .select("item.result_id")
    .distinct()
    .where("sample.account_id", "=", accountId)
    .$if(runId !== undefined, (query) => query.where("sample.run_id", "=", runId ?? ""))
    .execute();
  return new Set(rows.map(({ result_id }) => result_id));
}

export async function selectSampleItems(reader: Database, sampleIds: readonly string[]) {
  if (sampleIds.length === 0) return [];
  const { rows } = await sql<LabelSampleItemsTable & { is_labelled: number }>`
    select item.*, case when exists
      (select 1 from evaluation_labels as label where label.result_id = item.result_id) then 1 else 0 end as is_labelled
    from label_sample_items as item where item.sample_id in (${sql.join(sampleIds)})
    order by item.sample_id, item.position`.execute(reader);
  return rows;
}

/** A label with the verdict that it is about. */
export type LabelledVerdict = Awaited<ReturnType<typeof selectLabelledVerdicts>>[number];

/** The labels of an evaluator's verdicts, ordered by result. */
export async function selectLabelledVerdicts(
  reader: Database,
  accountId: string,
  { runId, evaluatorId, isExternal, profileName, profileId, profileRevision }: VerdictsOf,
) {
  let query = reader
    .selectFrom("evaluation_labels as label")
    .innerJoin("evaluation_results as result", "result.id", "label.result_id")
    .leftJoin("users", "users.id", "label.user_id")
    .select(["label.result_id", "label.user_id", "label.annotator", "users.email", "result.cluster_id"])
    .select(["result.evaluator_id", "result.is_external", "result.profile_name"])
    .select(["label.pass as label_pass", sql<number>`result.pass`.as("verdict_pass")])
    .select(sql<string | null>`coalesce(result.experiment_id, result.run_id)`.as("run_id"))
    .where("label.account_id", "=", accountId)
    .where("result.status", "=", "success")
    .where("result.pass", "is not", null)
    .where("result.is_external", "=", isExternal ? 1 : 0)
    .where((of) =>
      of.or([of("result.evaluator_id", "=", evaluatorId), of("result.evaluator_family", "=", evaluatorId)]),
    )
    .orderBy("label.result_id")
    .orderBy("label.id");
  if (profileName !== null) query = query.where("result.profile_name", "=", profileName);
  if (profileId !== undefined) query = query.where("result.profile_public_id", "=", profileId);
  if (profileRevision !== undefined) query = query.where("result.profile_revision", "=", profileRevision);
  if (runId !== undefined)
    query = query.where((of) =>
      of.or([of("result.run_id", "=", runId), of("result.experiment_id", "=", runId)]),
    );
  return await query.execute();
}

/** The evaluator whose verdicts have the most labels. */
export async function selectMostLabelled(reader: Database, accountId: string) {
  return await reader
    .selectFrom("evaluation_labels as label")
    .innerJoin("evaluation_results as result", "result.id", "label.result_id")
    .select(["result.evaluator_id", "result.is_external", "result.profile_name"])
    .where("label.account_id", "=", accountId)
    .groupBy(["result.evaluator_id", "result.is_external", "result.profile_name"])
    .orderBy(({ fn }) => fn.countAll(), "desc")
    .orderBy("result.evaluator_id")
    .limit(1)
    .executeTakeFirst();
}

export async function countLabels(reader: Database, accountId: string) {
  const { count } = await reader
    .selectFrom("evaluation_labels")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return count;
}
