import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from "openid-client";
import { readBodyWithin } from "../platform/limits/read-body-within.ts";

const timeoutS = 5;
/** Many times what providers send about themselves, their keys or a person. */
const maxResponseBytes = 1_000_000;
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** Loads the provider's metadata when it is first needed and keeps it. A failed attempt is repeated by the next call. */
export function createDiscovery(settings: ProviderSettings): () => Promise<Configuration> {
  let discovered: Promise<Configuration> | undefined;
  return async () => {
    discovered ??= discoverProvider(settings).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return await discovered;
  };
}

async function discoverProvider({
  issuer,
  clientId,
  clientSecret,
}: ProviderSettings): Promise<Configuration> {
  const server = new URL(issuer);
  const isInsecureAllowed = server.protocol === "http:" && loopbackHosts.has(server.hostname);
  return await discovery(server, clientId, clientSecret, authenticateClient(clientSecret), {
    timeout: timeoutS,
    [customFetch]: fetchWithin,
    // Verifies ID tokens' signatures as well, although they come from the provider: a proxy may terminate TLS.
    execute: [enableNonRepudiationChecks, ...(isInsecureAllowed ? [allowInsecureRequests] : [])],
  });
}

/** Limits the response size, so that an endless response cannot exhaust the server's memory. */
const fetchWithin: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const body = await readBodyWithin(response, maxResponseBytes);
  if (body === undefined) throw new Error("The provider's response is too large");
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body, { status, headers });
};

/** With a method that the provider supports; the standard's default is the Authorization header. */
function authenticateClient(clientSecret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? basic : post;
    authenticate(server, client, body, headers);
  };
}
