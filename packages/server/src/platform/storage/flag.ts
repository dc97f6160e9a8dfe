/** A boolean column: PostgreSQL's own booleans would read back differently from SQLite's. */
export type Flag = 0 | 1;

export function toFlag(value: boolean): Flag {
  return value ? 1 : 0;
}
