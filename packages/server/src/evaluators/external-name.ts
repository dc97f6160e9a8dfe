export const externalPrefix = "external:";

/** An imported evaluator as responses name it, so that it does not look like one of Presage's. */
export function toExternalName(name: string): string {
  return externalPrefix + name;
}
