/** The address bar in plain words: `?tag=a%3Db&tag=c%3Dd` instead of JSON. Whoever reads a page's search gets texts, and lists of them. */
export function parseSearch(text: string): Record<string, string | string[]> {
  const params = new URLSearchParams(text);
  const names = [...new Set(params.keys())];
  const entries = names.map((name): [string, string | string[]] => {
    const values = params.getAll(name);
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
