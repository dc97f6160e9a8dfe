import type { Sample } from "../sample.ts";

/** A sample whose verdict a person has corrected. */
export interface CorrectedExample {
  sample: Sample;
  /** What the person says. */
  pass: boolean;
  comment?: string;
}
