/** A setting that differs between two revisions. Undefined: not set. */
export interface ConfigChange {
  name: string;
  before: unknown;
  after: unknown;
}

type Config = Record<string, unknown>;

export function configChanges(before: Config, after: Config): ConfigChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter(({ before, after }) => canonical(before) !== canonical(after));
}

/** JSON with sorted keys. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
