import type { Micros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { EvaluatedModel } from "./evaluation-record.ts";

const idsAtOnce = 1_000;

/** What a judge found, without the texts that it judged. */
export interface JudgedResult {
  id: number;
  createdAt: Micros;
  /** The model that wrote the output. */
  model: string | undefined;
  /** As the result names it. */
  runId: string | undefined;
  /** If that is one of the account's runs. */
  runName: string | undefined;
  revisionId: string | undefined;
  found: { path: string[]; reason: string | undefined }[];
}

/** Results of the family `error-taxonomy`, newest first. */
export async function selectJudgedResults(reader: Database, ids: readonly number[]): Promise<JudgedResult[]> {
  const select = (some: readonly number[]) =>
    reader
      .selectFrom("evaluation_results as result")
      .innerJoin("evaluation_payloads as payload", "payload.result_id", "result.id")
      .leftJoin("runs as run", (join) =>
        join.onRef("run.id", "=", "result.run_id").onRef("run.account_id", "=", "result.account_id"),
      )
      .select(["result.id", "result.created_at", "payload.additional_info", "payload.evaluated_model"])
      .select(["result.run_id", "run.name as run_name"])
      .where("result.id", "in", some)
      .execute();
  const rows: Awaited<ReturnType<typeof select>> = [];
  for (let at = 0; at < ids.length; at += idsAtOnce)
    rows.push(...(await select(ids.slice(at, at + idsAtOnce))));
  return rows
    .sort((a, b) => b.id - a.id)
    .map(({ id, created_at, additional_info, evaluated_model, run_id, run_name }) => {
      const { extra } = JSON.parse(additional_info ?? "{}") as { extra?: Partial<Found> };
      const model = JSON.parse(evaluated_model ?? "null") as EvaluatedModel | null;
      return {
        id,
        createdAt: created_at,
        model: model?.name ?? model?.selectedModel ?? model?.id,
        runId: run_id ?? undefined,
        runName: run_name ?? undefined,
        revisionId: extra?.error_taxonomy_revision_id,
        found: (extra?.categories ?? []).map(({ path, reason }) => ({ path, reason })),
      };
    });
}

/** What only the family `error-taxonomy` returns beside its verdict. */
interface Found {
  error_taxonomy_revision_id: string;
  categories: readonly { path: string[]; reason?: string }[];
}
