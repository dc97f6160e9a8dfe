/** What was said to a model, and what came back: the texts that an evaluator looks at. */
export interface Sample {
  systemPrompt?: string;
  retrievedContext?: readonly string[];
  input?: string;
  output?: string;
  goldAnswer?: string;
}

export type SampleField = keyof Sample;
