import { type SizedRequest, send } from "./measure-requests.ts";

interface Summary {
  readonly source: string;
  readonly groups: readonly Readonly<Record<"count" | "scored" | "passed" | "failed", number>>[];
}

/** Presage did not write the rollup, so it must equal what Presage counts from the rows. Undefined if it does. */
export const findFillingError = async (
  size: number,
  requestOf: (body: unknown) => SizedRequest,
): Promise<string | undefined> => {
  const count = async (body: unknown): Promise<string> => {
    const { source, groups } = (await send(requestOf(body))) as Summary;
    const figures = groups.map(({ count, scored, passed, failed }) => ({ count, scored, passed, failed }));
    return `${source} ${JSON.stringify(figures)}`;
  };
  const rollup = await count({ app: "app-rare" });
  const rows = await count({ app: "app-rare", after_id: 0 });
  if (rollup.replace("rollups ", "") !== rows.replace("results ", "")) {
    return `of ${size} results, the rollup says ${rollup}, and the rows ${rows}`;
  }
  const all = await count({});
  return all.startsWith(`rollups [{"count":${size},`) ? undefined : `of ${size} results: ${all}`;
};
