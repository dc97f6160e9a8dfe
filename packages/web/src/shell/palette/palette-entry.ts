/** A place to go to, or something to do. */
export interface PaletteEntry {
  /** Unique among all. */
  id: string;
  /** The heading that it is listed under. */
  group: string;
  title: string;
  hint?: string | undefined;
  /** Found by it as well, but not shown. */
  keywords?: string | undefined;
  keys?: string | undefined;
  /** An address of the dashboard, or what it does. */
  action: string | (() => void);
}

export const pagesGroup = "Pages";
const maxInGroup = 6;

/** The entries with all words of a query, those that begin with it first; a few of each group but the pages. */
export function findEntries(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = entries
    .map((entry) => ({ entry, rank: rankOf(entry, wanted, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .map(({ entry }) => entry);
  // Groups stay in the order of their best entries.
  return [...Map.groupBy(found, ({ group }) => group)].flatMap(([group, listed]) =>
    group === pagesGroup ? listed : listed.slice(0, maxInGroup),
  );
}

function rankOf({ title, hint = "", keywords = "" }: PaletteEntry, wanted: string, words: string[]): number {
  const name = title.toLowerCase();
  const text = `${name} ${hint.toLowerCase()} ${keywords.toLowerCase()}`;
  if (!words.every((word) => text.includes(word))) return 0;
  if (name === wanted) return 4;
  if (name.startsWith(wanted)) return 3;
  return name.includes(wanted) ? 2 : 1;
}

/** What an id could be of: a result's is a number, those of most other things are UUIDs. */
export function kindOfId(query: string): "result" | "uuid" | undefined {
  const text = query.trim();
  if (/^\d{1,15}$/.test(text)) return "result";
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) ? "uuid" : undefined;
}
