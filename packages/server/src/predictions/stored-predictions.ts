import { maxCountedPredictions, type StoredPrediction, type StoredPredictionDetail } from "@presage/contract";
import { type Changer, recordChange, updateAuditDetail } from "../platform/audit.ts";
import { conflict, notFound } from "../platform/errors.ts";
import { parseStored } from "../platform/json.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import { type DeletedBatch, deleteInBatches } from "../platform/storage/batches.ts";
import { microsPerMs, toIsoInstant } from "../platform/storage/columns.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import type { PredictionSource } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import {
  type DeletedPredictions,
  deleteOldest,
  deletePredictions,
  lockPrediction,
} from "./deleted-predictions-store.ts";
import {
  type CountedColumn,
  countedColumns,
  type PredictionFilter,
  type StoredPayload,
  type StoredPredictionRow,
  selectPayload,
  selectPrediction,
  selectPredictions,
  selectValueCounts,
  type ValueCount,
} from "./stored-predictions-store.ts";

export function toStoredPrediction(
  { created_at, latency_micros, replica, sent_model: _, ...same }: Omit<StoredPredictionRow, "characters">,
  showsReplicas: boolean,
  names: ReadonlyMap<string, string>,
): StoredPrediction {
  const { prompt_tokens, cached_tokens, completion_tokens } = same;
  const hasAnswered = same.status === "success" && same.deployment !== null;
  return {
    ...same,
    ...shownTokens({ prompt_tokens, cached_tokens, completion_tokens }, hasAnswered),
    run_name: names.get(same.run_id ?? "") ?? null,
    api_key_name: names.get(same.api_key_id ?? "") ?? null,
    created_at: toIsoInstant(created_at),
    replica: showsReplicas ? replica : null,
    latency_ms: latency_micros === null ? null : latency_micros / microsPerMs,
  };
}

/** The request of a prediction. */
export type MadePrompt = Pick<
  StoredPredictionDetail,
  "context" | "interaction" | "messages" | "params" | "requested_model"
>;

/** Finds where a prediction's prompt can be read, and how long it is; undefined if it is gone. */
export type FindPrompt = (
  requester: Requester,
  prediction: Pick<StoredPredictionRow, "run_id" | "position" | "repeat">,
) => Promise<{ bytes: number; read(): Promise<MadePrompt | undefined> } | undefined>;

/** How to find the prompts that are stored with a dataset or with the steps of an episode. */
export type FindPrompts = Readonly<Record<Exclude<PredictionSource, "live">, FindPrompt>>;

function toStoredPredictionDetail(
  prediction: StoredPrediction,
  { request, context, ...texts }: StoredPayload,
  /** What a run or an episode asked, which is stored with its dataset or its steps. */
  made?: MadePrompt,
): StoredPredictionDetail {
  // Numbers too long for a double are sent as they were received.
  const asked = (request === null ? {} : parseStored(request)) as Partial<StoredPredictionDetail> & {
    model?: string | null;
  };
  const world = asked.world ?? null;
  if (made !== undefined) return { ...prediction, ...made, world, ...texts };
  return {
    ...prediction,
    context: context === null ? null : (parseStored(context) as StoredPredictionDetail["context"]),
    interaction: asked.interaction ?? null,
    messages: asked.messages ?? null,
    params: asked.params ?? null,
    requested_model: asked.model ?? null,
    world,
    ...texts,
  };
}

/** Services that reading the prompts of predictions needs. */
export interface PromptServices {
  store: Store;
  findPrompt: FindPrompts;
}

/** A prediction's row, and how many characters its own texts have. */
type MeasuredRow = StoredPredictionRow & { characters: number };

/** Finds the texts of a prediction, of up to `characters`. They are not read until `read` is called. */
export async function findDetail(
  { store, findPrompt }: PromptServices,
  requester: Requester,
  { characters, ...row }: MeasuredRow,
): Promise<{ characters: number; read(shown: StoredPrediction): Promise<StoredPredictionDetail> }> {
  const made = row.source === "live" ? undefined : await findPrompt[row.source](requester, row);
  return {
    characters: characters + (made?.bytes ?? 0),
    async read(shown) {
      const payload = await selectPayload(store.briefReader(requester), requester.accountId, row.id);
      return toStoredPredictionDetail(shown, existing(payload), await made?.read());
    },
  };
}

const exportedAtOnce = 100;

/** All predictions that match, newest first, with their texts or, which is much faster, without. */
export async function* readDetails(
  services: PromptServices,
  requester: Requester,
  filter: PredictionFilter,
  { withTexts }: { withTexts: boolean },
): AsyncGenerator<StoredPredictionDetail[], void> {
  const reader = services.store.briefReader(requester);
  const { accountId } = requester;
  for (let after: Keyset | undefined; ; ) {
    const { rows, next } = await selectPredictions(reader, accountId, filter, {
      limit: exportedAtOnce,
      after,
    });
    const page = rows.map((row) => toStoredPrediction(row, false, new Map()));
    if (!withTexts) yield page.map((shown) => ({ ...shown, ...noTexts }));
    else
      for (const shown of page) {
        const found = await selectPrediction(reader, accountId, shown.id);
        // A prediction that was deleted after its row was read is no reason to fail.
        if (found !== undefined) yield [await (await findDetail(services, requester, found)).read(shown)];
      }
    if (next === undefined) return;
    after = next;
  }
}

const noTexts = {
  context: null,
  interaction: null,
  messages: null,
  params: null,
  requested_model: null,
  world: null,
  output: null,
  reasoning: null,
  error_message: null,
};

/** The values that each filter can have. A filter's own value does not hide others that could be chosen. */
export async function countValues(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
): Promise<ValueCount[]> {
  const select = (columns: readonly CountedColumn[], ofFilter: PredictionFilter) =>
    selectValueCounts(reader, accountId, { columns, filter: ofFilter, most: maxCountedPredictions });
  const unfiltered = countedColumns.filter((column) => filter[column] === undefined);
  const counts = await select(unfiltered, filter);
  for (const column of countedColumns) {
    const { [column]: own, ...others } = filter;
    if (own !== undefined) counts.push(...(await select([column], others)));
  }
  return counts;
}

/** Throws a 404 if a prediction was not found. */
export function existing<Found>(found: Found | undefined): Found {
  if (found === undefined) throw notFound("prediction");
  return found;
}

/** How long one request deletes. */
const maxDurationMs = 5_000;

/** Deletes one prediction. A prediction of a run or an episode stays as long as that does. */
export async function deletePrediction({ store }: { store: Store }, requester: Changer, id: string) {
  const { accountId } = requester;
  await inTransaction(store, requester, async (transaction) => {
    const { source } = existing(await lockPrediction(transaction, accountId, id));
    if (source !== "live")
      throw conflict(
        `This prediction belongs to ${source === "run" ? "a run" : "an episode"}. Delete the ${source}.`,
      );
    await deletePredictions(transaction, accountId, [id]);
    await recordChange(transaction, requester, "prediction.delete", id);
  });
}

/** Deletes an account's live predictions from before a time that match, a few at a time, for some seconds. */
export async function deletePredictionsBefore(
  { store }: { store: Store },
  requester: Changer,
  wanted: Omit<DeletedPredictions, "accountId">,
): Promise<{ deleted: number; hasMore: boolean }> {
  const { accountId, signal } = requester;
  const database = store.writer(requester);
  const until = AbortSignal.any([signal, AbortSignal.timeout(maxDurationMs)]);
  let deleted = 0;
  let hasMore = true;
  let eventId: string | undefined;

  /** Records one event for the request, which counts what its transactions have deleted. */
  async function record(transaction: Database, some: number): Promise<void> {
    const detail = { before: toIsoInstant(wanted.before), ...wanted.filter, deleted: deleted + some };
    if (eventId !== undefined) return await updateAuditDetail(transaction, eventId, detail);
    eventId = await recordChange(transaction, requester, "prediction.delete", "many", detail);
  }

  async function deleteSome(_: unknown, limit: number): Promise<DeletedBatch<true>> {
    const some = await deleteOldest(database, { ...wanted, accountId }, limit, record);
    deleted += some.deleted;
    hasMore = some.next !== undefined;
    return some;
  }

  await deleteInBatches(database, deleteSome, { signal: until });
  signal.throwIfAborted();
  return { deleted, hasMore };
}
