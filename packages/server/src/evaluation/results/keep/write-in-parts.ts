import { setTimeout as sleep } from "node:timers/promises";
import { splitByBytes } from "../../../storage/read-in-pieces.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { charactersOf } from "../../sample.ts";
import type { EvaluationRecord } from "../record/evaluation-record.ts";
import {
  countPayloads,
  deletePayloads,
  forgetTextsAhead,
  insertPayloads,
  noteTextsAhead,
  sweepPayloads,
} from "../record/payloads-store.ts";
import { type Numbers, selectLastNumber, takeNumbers } from "./numbers-store.ts";
import { createWriteResults, numberEach, storeResults, type WriteResults } from "./write-results.ts";

/** The texts of one transaction: some tens of milliseconds. */
const partCharacters = 2_000_000;
/** Longer than whoever waits for the file pauses between two tries. */
const pauseMs = 15;

/**
 * Writes results into an SQLite file, where a transaction holds up everybody who writes. Where they have long texts, these go ahead,
 * part by part, under numbers that are taken before. Nobody sees them until the results follow, all at once.
 */
export function createWriteInParts(database: Database): WriteResults {
  const writeAtOnce = createWriteResults(database);
  let isSwept = false;

  return async (records) => {
    // What another process left behind that ended in the middle.
    if (!isSwept) await sweepPayloads(database);
    isSwept = true;
    const parts = splitTexts(records);
    if (parts.length < 2) return await writeAtOnce(records);
    const numbers = await database.transaction().execute(async (transaction) => {
      const taken = await takeNumbers(transaction, records.length);
      await noteTextsAhead(transaction, taken.ids);
      return taken;
    });
    const results = numberEach(records, numbers);
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
      // What cannot be deleted now is swept away at the next start.
      await deletePayloads(database, numbers.ids)
        .then(() => forgetTextsAhead(database, numbers.ids))
        .catch(() => {});
      throw error;
    }
  };
}

/**
 * The numbers as they were taken, if the texts are there under them and nobody took later ones, who may have been seen already. Else
 * new numbers, and the texts go along with the results.
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
