import { type RuleFamily, UnusableSampleError } from "../evaluators/family.ts";
import { charactersOf, type Sample } from "../sample.ts";

/** Throws an `UnusableSampleError` for a sample that is longer than its family takes. */
export function refuseLongSample(
  { name, needs, maxCharacters = Number.POSITIVE_INFINITY }: RuleFamily<unknown>,
  sample: Sample,
): void {
  const characters = charactersOf(sample, needs);
  if (characters <= maxCharacters) return;
  throw new UnusableSampleError(
    `${name} takes texts of ${maxCharacters} characters together, and these have ${characters}.`,
  );
}
