import type pg from "pg";
import type { TestPresage } from "../presage/presage.ts";
import { tree } from "../resources/error-taxonomies.ts";
import { connectTo } from "./postgres.ts";

type Caller = Pick<TestPresage, "call">;

/** A requested change with a unique name, and its response. */
export interface LedgerEntry {
  kind: Kind;
  name: string;
  status: number;
  /** Whether the database did not confirm the change. */
  isUncertain: boolean;
  tookMs: number;
}

/** Resources that the changes require. */
export interface Fixtures {
  revisionId: string;
  profileId: string;
  resultId: string;
}

interface Change {
  path: (fixtures: Fixtures) => string;
  body: (name: string) => unknown;
  /** How often each name is stored. */
  count: string;
}

const changes = {
  evaluation: {
    path: () => "/v1/evaluate",
    body: (name) => ({
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_output: "a",
      evaluated_model_gold_answer: "a",
      dataset_sample_id: name,
      tags: { name },
    }),
    count: "select dataset_sample_id::json #>> '{}' as name, count(*) from evaluation_payloads group by 1",
  },
  key: {
    path: () => "/v1/api-keys",
    body: (name) => ({ name }),
    count: "select name, count(*) from api_keys group by 1",
  },
  revision: {
    path: () => "/v1/error-taxonomy-revision",
    body: (name) => ({ error_taxonomy_name: name, body: tree }),
    count: `select taxonomy.name, count(*) from error_taxonomies as taxonomy
      join error_taxonomy_revisions as revision on revision.taxonomy_id = taxonomy.id group by 1`,
  },
  label: {
    path: ({ revisionId }) => `/v1/error-taxonomy-revision/${revisionId}/set-labels`,
    body: (name) => ({ labels: [name] }),
    count: "select label as name, count(*) from error_taxonomy_labels group by 1",
  },
  profile: {
    path: () => "/v1/evaluator-profiles",
    body: (name) => ({ name, evaluator_family: "exact-match", config: {} }),
    count: `select profile.name, count(*) from evaluator_profiles as profile
      join evaluator_profile_revisions as revision on revision.public_id = profile.public_id group by 1`,
  },
  "profile revision": {
    path: ({ profileId }) => `/v1/evaluator-profiles/${profileId}/revision`,
    // A revision without changes is not created.
    body: (name) => ({ config: { trim: false }, description: name }),
    count: "select description as name, count(*) from evaluator_profile_revisions group by 1",
  },
  correction: {
    path: ({ resultId }) => `/v1/evaluation-results/${resultId}/correction`,
    body: (name) => ({ pass: false, comment: name }),
    count: "select comment as name, count(*) from evaluation_corrections group by 1",
  },
} satisfies Record<string, Change>;

export type Kind = keyof typeof changes;
export const kinds = Object.keys(changes) as Kind[];

/** Creates what the changes require. */
export async function makeFixtures(presage: Caller): Promise<Fixtures> {
  const create = async (kind: Kind, name: string) => {
    const { path, body } = changes[kind] as Change;
    const response = await presage.call(
      "POST",
      path({ revisionId: "", profileId: "", resultId: "" }),
      body(name),
    );
    if (!response.ok) throw new Error(`${kind}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, Record<string, string>>;
  };
  const { error_taxonomy_revision: revision } = await create("revision", "of the fixtures");
  const { evaluator_profile: profile } = await create("profile", "of the fixtures");
  // Read leniently: an earlier version's response lacks today's fields.
  const { results } = (await create("evaluation", "of the fixtures")) as unknown as {
    results: { evaluation_result?: { id: string } }[];
  };
  return {
    revisionId: revision?.id ?? "",
    profileId: profile?.public_id ?? "",
    resultId: results[0]?.evaluation_result?.id ?? "",
  };
}

export type Ledger = ReturnType<typeof openLedger>;

/** Requests changes and records their responses, to compare them with what is stored in the end. */
export function openLedger(presage: Caller, fixtures: Fixtures, owner = "") {
  const entries: LedgerEntry[] = [];
  let last = 0;

  async function ask(kind: Kind): Promise<LedgerEntry> {
    last += 1;
    const name = `${kind} ${last} ${owner}`;
    const { path, body } = changes[kind] as Change;
    const startedAtMs = performance.now();
    const response = await presage.call("POST", path(fixtures), body(name));
    await response.arrayBuffer();
    const isUncertain = response.headers.get("x-should-retry") === "false";
    const tookMs = performance.now() - startedAtMs;
    const entry = { kind, name, status: response.status, isUncertain, tookMs };
    entries.push(entry);
    return entry;
  }

  return {
    entries,
    ask,
    /** Requests changes in a loop for each kind, until the returned function is called. */
    askUntilStopped(pauseMs: number): () => Promise<void> {
      let isStopped = false;
      const loops = kinds.map(async (kind) => {
        while (!isStopped) {
          await ask(kind);
          await Bun.sleep(pauseMs);
        }
      });
      return async () => {
        isStopped = true;
        await Promise.all(loops);
      };
    },
    /** How often each change is stored, by kind and name. */
    timesKept: (databaseUrl: string) => withClient(databaseUrl, timesKept),
    /** Responses that contradict what is stored, and counts that do not equal the rows. */
    async contradictions(databaseUrl: string): Promise<string[]> {
      return await withClient(databaseUrl, async (client) => {
        const stored = await timesKept(client);
        const unlike = entries.filter((entry) => !isAsAnswered(entry, stored));
        const described = unlike.map(({ kind, name, status, isUncertain }) => {
          const times = stored.get(`${kind}/${name}`) ?? 0;
          return `${name}: answered ${status}${isUncertain ? " uncertain" : ""}, kept ${times} times`;
        });
        return [...described, ...(await unequalCounts(client))];
      });
    },
  };
}

async function withClient<Value>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> {
  const client = await connectTo(databaseUrl);
  return await work(client).finally(() => client.end());
}

async function timesKept(client: pg.Client): Promise<Map<string, number>> {
  const stored = new Map<string, number>();
  for (const kind of kinds) {
    const { rows } = await client.query<{ name: string; count: string }>(changes[kind].count);
    for (const { name, count } of rows) stored.set(`${kind}/${name}`, Number(count));
  }
  return stored;
}

function isAsAnswered(
  { kind, name, status, isUncertain }: LedgerEntry,
  stored: ReadonlyMap<string, number>,
): boolean {
  const times = stored.get(`${kind}/${name}`) ?? 0;
  if (status < 300) return times === 1;
  return status === 503 && (times === 0 || (isUncertain && times === 1));
}

async function unequalCounts(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<Record<string, number>>(`select
    (select count(*) from evaluation_results)::int as results,
    (select count(*) from evaluation_payloads)::int as payloads,
    (select count(*) from evaluation_tags)::int as tags,
    (select coalesce(sum(count), 0)
      from (select series_id, count from evaluation_counts
        union all select series_id, count from evaluation_count_deltas) as counts
      join evaluation_series on id = series_id where spans_runs = 1)::int as counted,
    (select coalesce(sum(count), 0)
      from (select count from evaluation_total_counts
        union all select count from evaluation_count_deltas
          join evaluation_series on id = series_id where spans_runs = 1) as counts)::int as counted_by_day`);
  const [row] = rows;
  return new Set(Object.values(row ?? {})).size === 1 ? [] : [JSON.stringify(row)];
}
