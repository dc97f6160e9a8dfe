/** `exact-match-2026-11-21` is version `2026-11-21` of `exact-match-`. Imported evaluators have no version. */
export function splitVersion(evaluatorId: string): { family: string; version: string } {
  const start = evaluatorId.search(/\d{4}-\d{2}-\d{2}$/);
  return start < 1
    ? { family: evaluatorId, version: "" }
    : { family: evaluatorId.slice(0, start), version: evaluatorId.slice(start) };
}
