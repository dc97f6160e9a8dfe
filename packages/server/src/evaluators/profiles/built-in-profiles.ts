import { toMicros } from "../../platform/storage/micros.ts";
import type { BuiltInProfile, Family } from "../family.ts";
import type { ProfileRevision } from "./profiles-store.ts";

/** Namespace of built-in profiles' ids; any fixed UUID would do. */
const namespace = "0b6f2c0e-7c5e-4f0e-9a35-1f5b8f1f6a52";

/** Only names of what is built in begin with it. */
export const builtInPrefix = "system:";

/** The same on every server, so that results can be compared across them. */
export function builtInProfileId(family: string, name: string): string {
  return Bun.randomUUIDv5(`${family}/${name}`, namespace);
}

export function findBuiltInProfile(family: Family, name: string): BuiltInProfile | undefined {
  return family.builtInProfiles.find((profile) => profile.name === name);
}

/** The built-in profiles in the form of stored ones. Each has a single revision. */
export function builtInProfileRevisions(families: readonly Family[]): ProfileRevision[] {
  return families.flatMap((family) => {
    const [newest, ...older] = family.versions;
    // As old as the family: later versions do not change its profiles.
    const createdAt = toMicros(new Date(older.at(-1) ?? newest));
    return family.builtInProfiles.map(({ name, description, config }) => ({
      public_id: builtInProfileId(family.name, name),
      evaluator_family: family.name,
      name,
      revision: 1,
      config: JSON.stringify(config),
      description,
      is_managed: true,
      created_at: createdAt,
      archived_at: null,
    }));
  });
}
