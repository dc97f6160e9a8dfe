import type { EvaluationSummaryGroup, Evaluator, EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { addUp } from "../../data/summaries.ts";
import { shortEvaluatorNames } from "../../format/words.ts";

/** An evaluator with a profile. Two versions of an evaluator are two rows if both were used. */
export interface EvaluatorRow {
  id: string;
  /** The name without its date, unless two versions are in use. */
  name: string;
  /** The full id for the API; the newest version if the evaluator is unused. Undefined while loading. */
  evaluatorId: string | undefined;
  /** Undefined: imported results. */
  family: EvaluatorFamily | undefined;
  /** The newest revision. Undefined: imported results. */
  profile: EvaluatorProfile | undefined;
  profileName: string | null;
  purpose: Purpose;
  /** The number of evaluations in the period, with all revisions, including those of runs. */
  uses: number;
  /** The number of these evaluations without a verdict. */
  failed: number;
}

type Purpose = "gold" | "model" | "text" | "elsewhere";

/** Labels of the purposes, in the order of the list. */
export const purposeLabels: Record<Purpose, string> = {
  gold: "Compares with gold",
  model: "Asks a model",
  text: "Checks the text",
  elsewhere: "Made elsewhere",
};

function purposeOf(family: EvaluatorFamily | undefined): Purpose {
  if (family === undefined) return "elsewhere";
  if (family.uses_model) return "model";
  return family.required_input_fields.includes("evaluated_model_gold_answer") ? "gold" : "text";
}

/** The rows with uses or with the account's own profiles; all rows if nothing was used. */
export function withoutUnused(rows: readonly EvaluatorRow[]): EvaluatorRow[] {
  const used = rows.filter(({ uses, profile }) => uses > 0 || profile?.is_managed === false);
  return used.some(({ uses }) => uses > 0) ? used : [...rows];
}

interface Parts {
  families: readonly EvaluatorFamily[];
  /** The newest version of each family first. */
  evaluators?: readonly Evaluator[] | undefined;
  /** The newest revision of each profile. */
  profiles: readonly EvaluatorProfile[];
  /** Undefined while loading: no row has uses then. */
  used: readonly EvaluationSummaryGroup[] | undefined;
  /** Selects rows that contain all of these words. */
  words: string;
}

/** A row for every profile and for everything else that was used, by purpose; most used first, then the account's own. */
export function toEvaluatorRows({
  families,
  evaluators = [],
  profiles,
  used: groups = [],
  words,
}: Parts): EvaluatorRow[] {
  const nameOf = shortEvaluatorNames(groups.map(({ key }) => key.evaluator_id ?? ""));
  const familyOf = new Map(families.map((family) => [family.family_name, family]));
  const byProfile = Map.groupBy(groups, ({ key }) => key.evaluator_profile_public_id ?? "");
  const known = new Set(profiles.map(({ public_id }) => public_id));

  const ofProfiles = profiles.flatMap((profile): EvaluatorRow[] => {
    const { public_id, name, evaluator_family } = profile;
    const family = familyOf.get(evaluator_family);
    const shared = { family, purpose: purposeOf(family), profile, profileName: name };
    const used = byEvaluator(byProfile.get(public_id) ?? []);
    const newestId = evaluators.find((one) => one.evaluator_family === evaluator_family)?.id;
    if (used.length === 0) {
      return [
        {
          ...shared,
          id: public_id,
          name: evaluator_family,
          evaluatorId: newestId,
          uses: 0,
          failed: 0,
        },
      ];
    }
    return used.map(([evaluatorId, of]) => ({
      ...shared,
      ...usesOf(of),
      id: `${public_id} ${evaluatorId}`,
      name: nameOf(evaluatorId),
      evaluatorId,
    }));
  });
  const others = groups.filter(({ key }) => !known.has(key.evaluator_profile_public_id ?? ""));
  const imported = [...Map.groupBy(others, rowKeyOf)].map(([id, of]): EvaluatorRow => {
    const { evaluator_id = "", evaluator_family, profile_name = null } = of[0]?.key ?? {};
    const family = familyOf.get(evaluator_family ?? "");
    return {
      id,
      name: nameOf(evaluator_id),
      evaluatorId: evaluator_id,
      family,
      purpose: purposeOf(family),
      profile: undefined,
      profileName: profile_name,
      ...usesOf(of),
    };
  });
  return [...ofProfiles, ...imported].filter((row) => hasWords(row, words)).sort(compareRows);
}

function byEvaluator(groups: readonly EvaluationSummaryGroup[]): [string, EvaluationSummaryGroup[]][] {
  return [...Map.groupBy(groups, ({ key }) => key.evaluator_id ?? "")];
}

function rowKeyOf({ key }: EvaluationSummaryGroup): string {
  return JSON.stringify([key.evaluator_id, key.evaluator_profile_public_id, key.profile_name]);
}

function usesOf(of: readonly EvaluationSummaryGroup[]): Pick<EvaluatorRow, "uses" | "failed"> {
  const { count, failed } = addUp(of);
  return { uses: count, failed };
}

function hasWords({ name, family, profile, profileName }: EvaluatorRow, words: string): boolean {
  const texts = [name, family?.family_name, family?.description, profileName, profile?.description];
  const text = texts.filter(Boolean).join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const purposes = Object.keys(purposeLabels);

function compareRows(one: EvaluatorRow, other: EvaluatorRow): number {
  const isOwn = ({ profile }: EvaluatorRow) => Number(profile?.is_managed === false);
  return (
    purposes.indexOf(one.purpose) - purposes.indexOf(other.purpose) ||
    other.uses - one.uses ||
    isOwn(other) - isOwn(one) ||
    one.name.localeCompare(other.name) ||
    (one.profileName ?? "").localeCompare(other.profileName ?? "")
  );
}
