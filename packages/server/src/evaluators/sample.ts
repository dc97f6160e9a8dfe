/** The texts that an evaluator looks at: what a model was given, and its output. */
export interface Sample {
  systemPrompt?: string | undefined;
  retrievedContext?: readonly string[] | undefined;
  input?: string | undefined;
  output?: string | undefined;
  goldAnswer?: string | undefined;
}

export type SampleField = keyof Sample;

/** The names of the fields in the API, for messages and for the list of families. */
export const sampleFieldNames: Readonly<Record<SampleField, string>> = {
  systemPrompt: "evaluated_model_system_prompt",
  retrievedContext: "evaluated_model_retrieved_context",
  input: "evaluated_model_input",
  output: "evaluated_model_output",
  goldAnswer: "evaluated_model_gold_answer",
};

/** The needed fields that a sample lacks. An empty text is present; an empty list of texts is not. */
export function missingFields(sample: Sample, needed: readonly SampleField[]): SampleField[] {
  return needed.filter((field) => {
    const value = sample[field];
    return value === undefined || (Array.isArray(value) && value.length === 0);
  });
}

const allFields = Object.keys(sampleFieldNames) as SampleField[];

/** The total length of all texts, or of those in some fields. */
export function charactersOf(sample: Sample, fields: readonly SampleField[] = allFields): number {
  let characters = 0;
  // Without a list of the texts: it is asked five times for each evaluation.
  for (const field of fields) {
    const value = sample[field] ?? "";
    if (typeof value === "string") characters += value.length;
    else for (const text of value) characters += text.length;
  }
  return characters;
}
