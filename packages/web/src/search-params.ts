type Param = string | number | boolean;

/**
 * Plain search parameters, `?tag=a%3Db&tag=c%3Dd`, instead of the router's JSON. Texts that look like a number or a
 * boolean are parsed as one; `String` restores them.
 */
export function parseSearch(text: string): Record<string, Param | Param[]> {
  const params = new URLSearchParams(text);
  const names = [...new Set(params.keys())];
  const entries = names.map((name): [string, Param | Param[]] => {
    const values = params.getAll(name).map(readParam);
    return [name, values.length === 1 ? (values[0] ?? "") : values];
  });
  return Object.fromEntries(entries);
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) params.append(name, String(one));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

function readParam(text: string): Param {
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? number : text;
}

/** Whether a parameter can be the number of a revision. */
export function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}
