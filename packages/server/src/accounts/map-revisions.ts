/** JSON in which each `revisionId` is another one. Those that are not known stay. */
export function mapRevisions(json: string, ids: ReadonlyMap<number, number>): string {
  return JSON.stringify(
    JSON.parse(json, (name, value: unknown) =>
      name === "revisionId" && typeof value === "number" ? (ids.get(value) ?? value) : value,
    ),
  );
}
