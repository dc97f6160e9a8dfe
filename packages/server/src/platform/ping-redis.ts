import { Redis as RedisClient } from "ioredis";

const timeoutMs = 3_000;

/** Connects once and asks for the version. Throws if there is no answer. */
export async function pingRedis(url: string): Promise<string> {
  const client = new RedisClient(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  client.on("error", (error: Error) => {
    reason = error;
  });
  try {
    await client.connect();
    const about = await client.info("server");
    return /^(?:valkey|redis)_version:(\S+)/m.exec(about)?.[1] ?? "of unknown version";
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}
