import { externalPrefix } from "../../evaluators/outcome.ts";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { isClientRun, type Run } from "../run.ts";

/** An evaluator as a request names it. */
export interface Named {
  evaluator?: string | undefined;
  profile_name?: string | undefined;
}

/** An evaluator of a run as the API names it, and its place among those of a run that Presage makes. */
export interface FoundEvaluator {
  evaluator: string;
  profile_name: string | null;
  index: number;
}

/** The evaluator of a run that a request names; otherwise the first, or the first other than one that is given. */
export function evaluatorNamed(
  run: Pick<Run, "evaluators" | "clientEvaluators" | "target">,
  { evaluator, profile_name }: Named,
  { field = "evaluator", except }: { field?: string; except?: FoundEvaluator } = {},
): FoundEvaluator {
  const all = isClientRun(run)
    ? (run.clientEvaluators ?? []).map((one) => ({ ...one, family: "" }))
    : run.evaluators.map(({ id, family, profile }) => ({
        evaluator: id,
        profile_name: profile.name,
        family,
      }));
  const found = all.findIndex(
    (one, index) =>
      index !== except?.index &&
      (evaluator === undefined ||
        [one.evaluator, one.family, one.evaluator.replace(externalPrefix, "")].includes(evaluator)) &&
      (profile_name === undefined || one.profile_name === profile_name),
  );
  const one = all[found];
  if (one !== undefined)
    return { evaluator: one.evaluator, profile_name: one.profile_name ?? null, index: found };
  const other = except === undefined ? "" : "other ";
  const named = [evaluator, profile_name].filter((name) => name !== undefined);
  const wanted = named.length === 0 ? "" : ` ${named.join("=")}`;
  const has = all.map(({ evaluator: id, profile_name }) => `${id}=${profile_name}`).join(", ");
  const message = `The run has no ${other}evaluator${wanted}; it has ${has || "none"}`;
  throw new InvalidRequestError([valueError(["query", field], message, evaluator ?? null)]);
}
