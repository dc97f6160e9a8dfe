import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPresage, type Presage } from "@presage/sdk";
import type { Cookie } from "playwright-core";
import { createSignInPath } from "../../../server/src/app/compose-accounts.ts";
import { startPresage, type TestPresage, testKey } from "../../../server/test/support/presage/presage.ts";
import { startPresageWithProvider } from "../../../server/test/support/presage/presage-with-provider.ts";
import { signInLocally } from "../../../server/test/support/sign-in/session.ts";
import { openStore } from "../../../server/test/support/store/open-store.ts";
import { buildDashboard } from "./build-dashboard.ts";

/** A server with its dashboard. */
export interface RunningDashboard {
  presage: TestPresage;
  databaseUrl: string;
  /** The owner's client, with a key. */
  client: Presage;
  /** Other origins that pages may navigate to: the identity provider, if any. */
  otherOrigins: string[];
  /** The cookies of the owner's session; none with an identity provider. */
  cookies: (Pick<Cookie, "name" | "value"> & { url: string })[];
  /** A URL that signs in one browser once, in local mode. */
  newSignInAddress(): Promise<string>;
  stop(): Promise<void>;
}

export interface DashboardOptions {
  environment?: Record<string, string>;
  /** Whether people sign in at an identity provider. */
  hasProvider?: boolean;
  /** Whether the database is a file that others can open, too. */
  hasFile?: boolean;
}

export async function startDashboard({
  environment = {},
  hasProvider = false,
  hasFile = hasProvider,
}: DashboardOptions): Promise<RunningDashboard> {
  await buildDashboard();
  const folder = await mkdtemp(join(tmpdir(), "presage-browser-test-"));
  const databaseUrl = hasFile ? `sqlite:${join(folder, "presage.db")}` : "sqlite::memory:";
  const server = await (hasProvider ? startWithProvider : startLocally)(databaseUrl, environment);
  const { presage } = server;
  return {
    ...server,
    databaseUrl,
    client: createPresage({ baseUrl: presage.url, apiKey: testKey }),
    async newSignInAddress() {
      await using store = await openStore(databaseUrl);
      return presage.url + (await createSignInPath(store));
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function startLocally(databaseUrl: string, environment: Record<string, string>) {
  const presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl, ...environment });
  const { cookies } = await signInLocally(presage);
  return {
    presage,
    otherOrigins: [],
    cookies: [...cookies].map(([name, value]) => ({ name, value, url: presage.url })),
    stop: () => presage.stop(),
  };
}

async function startWithProvider(databaseUrl: string, environment: Record<string, string>) {
  const running = await startPresageWithProvider(databaseUrl, environment);
  const { presage, provider } = running;
  return {
    presage,
    otherOrigins: [provider.issuer],
    cookies: [],
    stop: () => running[Symbol.asyncDispose](),
  };
}
