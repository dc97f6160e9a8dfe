import { splitVersion } from "../../format/split-version.ts";

/** An evaluator’s id, which breaks only before its version. */
export function EvaluatorName({ id }: { id: string }) {
  const { family, version } = splitVersion(id);
  return (
    <>
      {family}
      {version !== "" && (
        <>
          <wbr />
          <span className="whitespace-nowrap">{version}</span>
        </>
      )}
    </>
  );
}
