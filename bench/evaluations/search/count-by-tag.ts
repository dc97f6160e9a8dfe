import { openThreadDatabase } from "../../../packages/server/src/platform/storage/open.ts";
import { rollUpSomeTags } from "../../../packages/server/src/results/summary/tags.ts";

const resultsAtOnce = 20_000;

/** Otherwise the server would do it in the background, while it is measured. */
export const countByTag = async (url: string): Promise<void> => {
  const database = await openThreadDatabase(url);
  while (await rollUpSomeTags(database, resultsAtOnce));
  await database.destroy();
};
