import { setTimeout as sleep } from "node:timers/promises";
import { splitByBytes } from "../../../storage/read-in-pieces.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { charactersOf } from "../../sample.ts";
import type { EvaluationRecord } from "../record/evaluation-record.ts";
import { type Numbers, selectLastNumber, takeNumbers } from "./numbers-store.ts";
import {
  countPayloads,
  deletePayloads,
  forgetTextsAhead,
  insertPayloads,
  recordTextsAhead,
  sweepPayloads,
} from "./results-store.ts";
import { createWriteResults, numberResults, storeResults, type WriteResults } from "./write-results.ts";

/** The texts of one transaction: some tens of milliseconds. */
const partCharacters = 2_000_000;
/** Longer than other writers pause between two attempts at the file. */
const pauseMs = 15;

/**
 * Writes results into an SQLite file, where a transaction blocks all other writers. Long texts are written ahead, part by part, under
 * numbers taken beforehand. They are invisible until the results follow, all at once.
 */
export function createWriteInParts(database: Database): WriteResults {
  const writeAtOnce = createWriteResults(database);
  let isSwept = false;

  return async (records) => {
    // Texts left by a process that stopped in the middle.
    if (!isSwept) await sweepPayloads(database);
    isSwept = true;
    const parts = splitTexts(records);
    if (parts.length < 2) return await writeAtOnce(records);
    const numbers = await database.transaction().execute(async (transaction) => {
      const taken = await takeNumbers(transaction, records.length);
      await recordTextsAhead(transaction, taken.ids);
      return taken;
    });
    const results = numberResults(records, numbers);
    try {
      for (const part of parts) {
        await insertPayloads(
          database,
          part.flatMap((index) => results[index] ?? []),
        );
        await sleep(pauseMs);
      }
      return await storeResults(database, records, (transaction) => settle(transaction, records, numbers));
    } catch (error) {
      // What cannot be deleted now is swept at the next start.
      await deletePayloads(database, numbers.ids)
        .then(() => forgetTextsAhead(database, numbers.ids))
        .catch(() => {});
      throw error;
    }
  };
}

/**
 * Keeps the numbers if their texts are stored and no later numbers, which may already be visible, were taken. Otherwise takes new
 * numbers, and the texts are stored with the results.
 */
async function settle(transaction: Database, records: readonly EvaluationRecord[], taken: Numbers) {
  await forgetTextsAhead(transaction, taken.ids);
  const isLast = (await selectLastNumber(transaction)) === taken.ids.at(-1);
  if (isLast && (await countPayloads(transaction, taken.ids)) === records.length) {
    return { numbers: taken, isThere: { hasSeries: false, hasPayloads: true } };
  }
  await deletePayloads(transaction, taken.ids);
  const numbers = await takeNumbers(transaction, records.length);
  return { numbers, isThere: { hasSeries: false } };
}

function splitTexts(records: readonly EvaluationRecord[]): number[][] {
  const characters = new Map(records.map(({ sample }, index) => [index, charactersOf(sample)]));
  return splitByBytes([...characters.keys()], characters, {
    maxIds: records.length,
    maxBytes: partCharacters,
  });
}
