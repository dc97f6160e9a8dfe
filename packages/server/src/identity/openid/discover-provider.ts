import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from "openid-client";
import { fetchAnswer } from "./fetch-answer.ts";

const timeoutS = 5;
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** What the provider says of itself: asked for when it is first needed, remembered, and asked for again after a failure. */
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
    [customFetch]: fetchAnswer,
    // The signature is checked too, though the ID token comes from the provider itself: TLS may end before it.
    execute: [enableNonRepudiationChecks, ...(isInsecureAllowed ? [allowInsecureRequests] : [])],
  });
}

/** The way that the provider takes; where it says nothing, the standard means the Authorization header. */
function authenticateClient(clientSecret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? basic : post;
    authenticate(server, client, body, headers);
  };
}
