import { createDiscovery } from "../accounts/openid.ts";
import { explainDiscoveryError } from "../accounts/openid-identity.ts";
import type { Config } from "../config/config.ts";
import type { Finding } from "./finding.ts";

/** The OpenID provider that users sign in with. */
export async function checkProvider({ identity: { oidc } }: Config): Promise<Finding> {
  const check = "provider";
  if (oidc === undefined)
    return { check, state: "off", text: "PRESAGE_OIDC_ISSUER is not set: the printed link signs in" };
  try {
    await createDiscovery(oidc)();
    return { check, state: "good", text: `${oidc.issuer} describes itself` };
  } catch (error) {
    const { reason } = explainDiscoveryError(error);
    const text = `${oidc.issuer} does not describe itself (${reason}). Check PRESAGE_OIDC_ISSUER and that this machine reaches it`;
    return { check, state: "bad", text };
  }
}

/** The Valkey or Redis that processes share. */
export async function checkRedis({ redisUrl }: Config): Promise<Finding> {
  const check = "redis";
  if (redisUrl === undefined) return { check, state: "off", text: "PRESAGE_REDIS_URL is not set" };
  const { pingRedis } = await import("../platform/redis.ts");
  const { host } = new URL(redisUrl);
  try {
    return { check, state: "good", text: `${host} answers, version ${await pingRedis(redisUrl)}` };
  } catch (error) {
    const reason =
      error instanceof Error && error.name === "ReplyError" ? "it refuses" : "it cannot be reached";
    const advice =
      "Check PRESAGE_REDIS_URL with its password, and that it runs; until then each process works by itself";
    return { check, state: "bad", text: `${host}: ${reason}. ${advice}` };
  }
}
