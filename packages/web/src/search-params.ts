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

/** The members of an object that are not undefined. */
export function present<Type extends object>(
  object: Type,
): { [Name in keyof Type]?: Exclude<Type[Name], undefined> };
export function present(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** A parameter as text: an app may be called “404” or “true”. Undefined for texts that the server would reject. */
export function readText(value: unknown): string | undefined {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text !== "" && !text.includes("\0") && text.isWellFormed()
    ? text
    : undefined;
}

/** Whether a parameter can be a revision number. */
export function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

/** A time in the format of the API. */
export function instantOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace(".000Z", "Z");
}

/** For `navigate`: a different view of the same page adds nothing to the history, and does not scroll. */
export const inPlace = { replace: true, resetScroll: false } as const;
