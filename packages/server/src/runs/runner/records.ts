import type { PositionedSample } from "../../datasets/samples.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { adaptAnswer } from "../../worlds/adapt-answer.ts";
import { type ExampleServices, readExamples } from "../../worlds/examples.ts";
import { fieldsOf } from "../../worlds/fields.ts";

/** What followed the most similar sample of another trajectory, adapted to the action. Undefined: none is similar. `state` takes the place of the recorded one. */
export type AnswerFromRecords = (
  placed: PositionedSample,
  state: string | undefined,
  signal: AbortSignal,
) => Promise<string | undefined>;

/** Answers from a revision's own samples. */
export function answerFromRecords(
  { indexes, exampleTexts }: ExampleServices,
  reader: Database,
  revisionId: number,
): AnswerFromRecords {
  const source = { revisionId, filter: {} };
  return async ({ sample }, state, signal) => {
    const query = fieldsOf(sample, state);
    const wanted = { query, k: 1, excluded: [sample.trajectory_id] };
    const [nearest] = (await indexes.find(reader, source, wanted, signal)).examples;
    if (nearest === undefined) return undefined;
    const found = await readExamples(exampleTexts, reader, revisionId, [nearest.position]);
    const example = found.get(nearest.position);
    return example && adaptAnswer(query.action, example);
  };
}
