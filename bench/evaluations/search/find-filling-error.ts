import { type SizedRequest, send } from "./measure-requests.ts";

interface Summary {
  readonly source: string;
  readonly groups: readonly Readonly<Record<"count" | "scored" | "passed" | "failed", number>>[];
}

type RequestOf = (body: unknown) => SizedRequest;

const count = async (requestOf: RequestOf, body: unknown): Promise<string> => {
  const { source, groups } = (await send(requestOf(body))) as Summary;
  const figures = groups.map(({ count, scored, passed, failed }) => ({ count, scored, passed, failed }));
  return `${source} ${JSON.stringify(figures)}`;
};

/** What the rollup says of some of the results must equal what Presage counts from the rows. Undefined if it does. */
export const findCountingError = async (requestOf: RequestOf): Promise<string | undefined> => {
  const rollup = await count(requestOf, { app: "app-rare" });
  const rows = await count(requestOf, { app: "app-rare", after_id: 0 });
  if (rollup.replace("rollups ", "") === rows.replace("results ", "")) return undefined;
  return `the rollup says ${rollup}, and the rows ${rows}`;
};

/** Presage did not write the rollup. Undefined if it is right. */
export const findFillingError = async (size: number, requestOf: RequestOf): Promise<string | undefined> => {
  const error = await findCountingError(requestOf);
  if (error !== undefined) return `of ${size} results, ${error}`;
  const all = await count(requestOf, {});
  return all.startsWith(`rollups [{"count":${size},`) ? undefined : `of ${size} results: ${all}`;
};
