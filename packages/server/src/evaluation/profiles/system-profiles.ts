import type { BuiltInProfile, Family } from "../evaluators/family.ts";

/** Of the ids of system profiles; any fixed UUID serves. */
const namespace = "0b6f2c0e-7c5e-4f0e-9a35-1f5b8f1f6a52";

/** Their names begin so, and nobody else's do. */
export const systemPrefix = "system:";

/** The same on every server, so that results can be compared across them. */
export function builtInProfileId(family: string, name: string): string {
  return Bun.randomUUIDv5(`${family}/${name}`, namespace);
}

export function findBuiltInProfile(family: Family, name: string): BuiltInProfile | undefined {
  return family.builtInProfiles.find((profile) => profile.name === name);
}
