import { splitVersion } from "./split-version.ts";

/** An evaluator without its date, which is only needed where two versions of it are in use: a function from ids to names. */
export function shortEvaluatorNames(idsInUse: Iterable<string>): (id: string) => string {
  const versions = Map.groupBy(new Set(idsInUse), (id) => splitVersion(id).family);
  return (id) => {
    const { family, version } = splitVersion(id);
    const isAmbiguous = version !== "" && new Set([...(versions.get(family) ?? []), id]).size > 1;
    return isAmbiguous ? id : family.replace(version === "" ? /$^/ : /-$/, "");
  };
}
