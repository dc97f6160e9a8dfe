import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import type { UpstreamKind } from "./target/start-target.ts";

export interface FuzzArguments {
  requests: number;
  /** The number of the only request that is sent. */
  only: number | undefined;
  seed: number;
  concurrency: number;
  /** `sqlite`, `postgres` (one of the fuzz's own), or the URL of a PostgreSQL on which a database is made. */
  database: string;
  upstreams: UpstreamKind[];
}

export const usage = `npm run fuzz -- [options]

  --requests N       how many requests are sent (100000)
  --only N           sends only the request with this number
  --seed N           makes the same requests again (random)
  --database D       sqlite, postgres, or the URL of a PostgreSQL on which a database is made (sqlite)
  --upstream U       sandbox, faulty, or both: four fifths to the sandbox, then a fifth to one that fails (both)
  --concurrency N    how many requests are under way at once (16)
`;

export function readArguments(argv: readonly string[]): FuzzArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      requests: { type: "string", default: "100000" },
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
      only: { type: "string" },
      database: { type: "string", default: "sqlite" },
      upstream: { type: "string", default: "both" },
      concurrency: { type: "string", default: "16" },
    },
  });
  return {
    requests: values.only === undefined ? wholeNumber("--requests", values.requests) : 1,
    only: values.only === undefined ? undefined : wholeNumber("--only", values.only),
    seed: wholeNumber("--seed", values.seed),
    concurrency: wholeNumber("--concurrency", values.concurrency),
    database: readDatabase(values.database),
    upstreams: readUpstreams(values.upstream),
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} takes a whole number; it got ${text}`);
  return Number(text);
}

function readDatabase(text: string): string {
  if (text === "sqlite" || text === "postgres" || /^postgres(ql)?:\/\//.test(text)) return text;
  throw new Error(`--database takes sqlite, postgres or a URL that begins with postgres://; it got ${text}`);
}

function readUpstreams(text: string): UpstreamKind[] {
  if (text === "both") return ["sandbox", "faulty"];
  if (text === "sandbox" || text === "faulty") return [text];
  throw new Error(`--upstream takes sandbox, faulty or both; it got ${text}`);
}
