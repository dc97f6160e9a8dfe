import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Run } from "../run.ts";
import { selectRun } from "../runs-store.ts";
import { selectTeacherForced, type TeacherForcedRow } from "./teacher-forced-store.ts";

const runsAtOnce = 100;

/** The newest finished teacher-forced run of the same revision, target and params. */
export async function findTeacherForced(reader: Database, run: Run): Promise<Run | undefined> {
  const { dataset, accountId } = run;
  if (dataset === undefined) return undefined;
  let before: TeacherForcedRow | undefined;
  for (;;) {
    const rows = await selectTeacherForced(reader, accountId, dataset, { limit: runsAtOnce, before });
    const found = rows.find((row) => isLike(run, row));
    if (found !== undefined) return await selectRun(reader, accountId, found.id);
    before = rows.at(-1);
    if (rows.length < runsAtOnce) return undefined;
  }
}

/** The order of keys does not matter. */
function isLike({ target, params }: Run, row: TeacherForcedRow): boolean {
  return (
    isDeepStrictEqual(JSON.parse(row.target), JSON.parse(JSON.stringify(target))) &&
    isDeepStrictEqual(JSON.parse(row.params ?? "{}"), params ?? {})
  );
}
