import { type Kysely, type Migration, sql } from "kysely";
import { clusterIdOf, trajectoryTag } from "../sample-columns.ts";

/** Payloads are long, and only a few columns of some are needed. */
const resultsAtOnce = 2_000;

/** Which results are of one trajectory or sample, so that the intervals of summaries can take that into account. */
export const resultClusters: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable("evaluation_results").addColumn("cluster_id", "bigint").execute();
    await fillClusters(db);
    await sql`create index evaluation_results_in_clusters on evaluation_results (account_id, evaluator_id, id)
      where status = 'success' and cluster_id is not null`.execute(db);
  },
};

interface Origin {
  id: number;
  dataset_id: string | null;
  dataset_sample_id: string | null;
  tags: string | null;
}

async function fillClusters(db: Kysely<unknown>): Promise<void> {
  let lastId = 0;
  for (;;) {
    const { rows } = await sql<Origin>`
      select result.id, result.dataset_id, payload.dataset_sample_id, payload.tags
      from evaluation_results as result inner join evaluation_payloads as payload on payload.result_id = result.id
      where result.id > ${lastId}
        and (payload.dataset_sample_id is not null or payload.tags like ${`%"${trajectoryTag}"%`})
      order by result.id limit ${resultsAtOnce}`.execute(db);
    const clusters = rows.flatMap((origin) => {
      const clusterId = clusterOf(origin);
      return clusterId === null ? [] : [sql`(${sql.lit(origin.id)}, ${sql.lit(clusterId)})`];
    });
    if (clusters.length > 0) {
      await sql`with clusters (id, cluster_id) as (values ${sql.join(clusters)})
        update evaluation_results set cluster_id = clusters.cluster_id from clusters
        where evaluation_results.id = clusters.id`.execute(db);
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    lastId = last.id;
  }
}

function clusterOf({ dataset_id, dataset_sample_id, tags }: Origin): number | null {
  const trajectoryId: unknown = tags === null ? undefined : JSON.parse(tags)[trajectoryTag];
  return clusterIdOf({
    trajectoryId: typeof trajectoryId === "string" ? trajectoryId : undefined,
    datasetId: dataset_id ?? undefined,
    datasetSampleId: dataset_sample_id === null ? undefined : JSON.parse(dataset_sample_id),
  });
}
