import { freePort } from "../free-port.ts";
import { startOpenidProvider, type TestOpenidProvider } from "../sign-in/openid-provider.ts";
import { startPresage, type TestPresage } from "./presage.ts";

/** A Presage with its own OpenID provider. */
export interface PresageWithProvider extends AsyncDisposable {
  presage: TestPresage;
  provider: TestOpenidProvider;
}

export async function startPresageWithProvider(
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<PresageWithProvider> {
  const port = await freePort();
  const provider = await startOpenidProvider([`http://127.0.0.1:${port}`]);
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_PORT: String(port),
    ...provider.environment,
    ...environment,
  });
  return {
    presage,
    provider,
    async [Symbol.asyncDispose]() {
      await presage.stop();
      await provider.stop();
    },
  };
}
