const replicas = Number(process.env.PRESAGE_TEST_REPLICAS ?? 1);

export type UpstreamClient = "fetch" | "sockets";
/** The clients that the tests of upstreams cover. What only `fetch` does, for https, is always tested. */
export const upstreamClients: readonly UpstreamClient[] =
  process.env.PRESAGE_TEST_ALL === undefined ? ["sockets"] : ["fetch", "sockets"];

/** With `PRESAGE_TEST_UPSTREAM_CLIENT=sockets` every test's upstream is reached through that client. */
const client = process.env.PRESAGE_TEST_UPSTREAM_CLIENT;

/** Where a test's upstream listens. */
export const upstreamHost = replicas === 1 ? "127.0.0.1" : "0.0.0.0";

/**
 * With `PRESAGE_TEST_REPLICAS=4` every test's upstream represents four replicas: it is reached at 127.0.0.1 to 127.0.0.4, so that the
 * server chooses between four addresses while the test still sees every request and controls every response.
 */
export function asReplicas<Environment extends Readonly<Record<string, string | undefined>>>(
  environment: Environment,
): Environment {
  if (client !== undefined) return withReplicas({ PRESAGE_UPSTREAM_CLIENT: client, ...environment });
  return withReplicas(environment);
}

function withReplicas<Environment extends Readonly<Record<string, string | undefined>>>(
  environment: Environment,
): Environment {
  const url = environment.PRESAGE_UPSTREAM_URL;
  if (url === undefined || replicas === 1 || url.includes(",")) return environment;
  const urls = Array.from({ length: replicas }, (_, place) =>
    url.replace("127.0.0.1", `127.0.0.${place + 1}`),
  );
  // A host name has only one address.
  return { ...environment, PRESAGE_UPSTREAM_URL: [...new Set(urls)].join(",") };
}
