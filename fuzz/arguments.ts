import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import type { UpstreamKind } from "./target/start-target.ts";

export interface FuzzArguments {
  requests: number;
  /** Send only the request with this number. */
  only: number | undefined;
  seed: number;
  concurrency: number;
  /** `sqlite`, `postgres` (the fuzzer starts its own), or the URL of a PostgreSQL on which it creates a database. */
  database: string;
  upstreams: UpstreamKind[];
}

export const usage = `npm run fuzz -- [options]

  --requests N       number of requests to send (100000)
  --only N           send only the request with this number
  --seed N           repeat the requests of an earlier run (random)
  --database D       sqlite, postgres, or the URL of a PostgreSQL on which to create a database (sqlite)
  --upstream U       sandbox, faulty, or both: four fifths with the sandbox, then a fifth with an upstream that fails (both)
  --concurrency N    number of concurrent requests (16)
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
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name}: got ${text}; expected a whole number`);
  return Number(text);
}

function readDatabase(text: string): string {
  if (text === "sqlite" || text === "postgres" || /^postgres(ql)?:\/\//.test(text)) return text;
  throw new Error(`--database: got ${text}; expected sqlite, postgres or a URL that begins with postgres://`);
}

function readUpstreams(text: string): UpstreamKind[] {
  if (text === "both") return ["sandbox", "faulty"];
  if (text === "sandbox" || text === "faulty") return [text];
  throw new Error(`--upstream: got ${text}; expected sandbox, faulty or both`);
}
