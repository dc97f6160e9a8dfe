import { setImmediate as nextTurn } from "node:timers/promises";
import { type PositionedSample, readRevision, readSamplesAt } from "../../datasets/samples.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { adaptAnswer } from "../../worlds/adapt-answer.ts";
import { collectExamples, type ExampleIndex } from "../../worlds/example-index.ts";
import { fieldsOf } from "../../worlds/fields.ts";
import { findExamples } from "../../worlds/find-examples.ts";

/** What followed the most similar sample of another trajectory, adapted to the action. Undefined: none is similar. `state` takes the place of the recorded one. */
export type AnswerFromRecords = (
  placed: PositionedSample,
  state: string | undefined,
  signal: AbortSignal,
) => Promise<string | undefined>;

/** Makes a revision's samples searchable, in turns of a few milliseconds. */
export async function indexRecords(
  reader: Database,
  revisionId: number,
  signal: AbortSignal,
): Promise<AnswerFromRecords> {
  const index = await readIndex(reader, revisionId, signal);
  let searching: Promise<unknown> = Promise.resolve();
  return async ({ sample }, state, ofStep) => {
    const query = fieldsOf(sample, state);
    // One search in each turn of the event loop.
    const search = searching.then(async () => {
      await nextTurn(undefined, { signal: ofStep });
      return findExamples(index, query, { k: 1, excluded: [sample.trajectory_id] });
    });
    searching = search.catch(() => undefined);
    const [nearest] = (await search).examples;
    if (nearest === undefined) return undefined;
    const { position } = nearest;
    for await (const [found] of readSamplesAt(reader, revisionId, [{ position, bytes: 0 }])) {
      if (found === undefined) continue;
      const { action } = fieldsOf(found.sample);
      return adaptAnswer(query.action, { action, nextState: found.sample.next_state });
    }
    return undefined;
  };
}

async function readIndex(reader: Database, revisionId: number, signal: AbortSignal): Promise<ExampleIndex> {
  const collected = collectExamples();
  for await (const piece of readRevision(reader, revisionId, signal)) {
    await nextTurn(undefined, { signal });
    for (const { position, sample } of piece) {
      const { trajectory_id: trajectoryId, next_state: nextState } = sample;
      collected.add({ position, trajectoryId, fields: fieldsOf(sample), nextState });
    }
  }
  const finishing = collected.finish();
  for (;;) {
    const slice = finishing.next();
    if (slice.done) return slice.value;
    await nextTurn(undefined, { signal });
  }
}
