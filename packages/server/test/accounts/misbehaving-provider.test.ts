import { expect, test } from "bun:test";
import { startPresage } from "../support/presage/presage.ts";
import { startPresageWithProvider } from "../support/presage/presage-with-provider.ts";
import { openBrowser } from "../support/sign-in/browser.ts";
import { expectFailurePage } from "../support/sign-in/expect-failure-page.ts";
import { sessionOf } from "../support/sign-in/session.ts";
import { signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

type Metadata = Record<string, unknown>;

/** A server that poses as a provider, with arbitrary metadata. */
function startLiar(describe: (metadata: Metadata) => Response | Promise<Response>) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const issuer = new URL(url).origin;
      return describe({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    },
  });
  const environment = {
    PRESAGE_OIDC_ISSUER: server.url.origin,
    PRESAGE_OIDC_CLIENT_ID: "presage-of-the-tests",
    PRESAGE_OIDC_CLIENT_SECRET: "client-secret-Hd6t4Ny7-0123456789",
    PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
  };
  return { environment, [Symbol.asyncDispose]: () => server.stop(true) };
}

const endlessness = { sentBytes: 0 };

/** Valid JSON that never ends. */
function endless(): Response {
  const spaces = new Uint8Array(100_000).fill(0x20);
  const body = new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1);
      controller.enqueue(spaces);
      endlessness.sentBytes += spaces.length;
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

const lies: [string, (metadata: Metadata) => Response][] = [
  ["with a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ["with a redirect to another address", () => Response.redirect("https://elsewhere.example/", 302)],
  ["with a slash more", (metadata) => Response.json({ ...metadata, issuer: `${metadata.issuer}/` })],
  ["as another issuer", (metadata) => Response.json({ ...metadata, issuer: "https://issuer.example" })],
  ["without a sign-in address", ({ authorization_endpoint: _, ...rest }) => Response.json(rest)],
  ["with an invalid address", (metadata) => Response.json({ ...metadata, authorization_endpoint: "here" })],
  [
    "with a script",
    (metadata) => Response.json({ ...metadata, authorization_endpoint: "javascript:alert(1)" }),
  ],
  ["endlessly", endless],
];

for (const [name, answer] of lies) {
  test(`Signing in at a provider that responds ${name} fails with an error page`, async () => {
    await using liar = startLiar(answer);
    const presage = await startPresage(liar.environment);
    const response = await openBrowser().fetch(`${presage.url}/auth/sign-in`);
    await expectFailurePage(response, 503, /identity provider is unavailable/);
    // The timeout is no protection: an endless response would fill the memory until then.
    expect(endlessness.sentBytes).toBeLessThan(30_000_000);
    await presage.stop();
  });
}

onAnyDatabase((database) => {
  test("Signing out ends the session before the provider is called, whatever it returns", async () => {
    for (const end_session_endpoint of ["here", "javascript:alert(1)", 7]) {
      const databaseUrl = await database.create();
      await using running = await startPresageWithProvider(databaseUrl);
      const browser = openBrowser();
      await signInAtProvider(browser, running.presage.url);
      const { headers } = await sessionOf(browser, databaseUrl);
      const asked: number[] = [];
      await using liar = startLiar(async (metadata) => {
        asked.push((await presage.call("GET", "/v1/me", undefined, headers)).status);
        return Response.json({ ...metadata, end_session_endpoint });
      });
      const presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl, ...liar.environment });
      // As if the session had been started at this provider, whose tokens are never accepted.
      await using store = await openStore(databaseUrl);
      await store.database
        .updateTable("sessions")
        .set({ issuer: liar.environment.PRESAGE_OIDC_ISSUER })
        .execute();
      expect((await presage.call("GET", "/v1/me", undefined, headers)).status).toBe(200);
      const response = await presage.call("POST", "/auth/sign-out", undefined, headers);
      expect([response.status, await response.json()]).toEqual([200, { redirect_to: "/sign-in?signed_out" }]);
      expect(asked).toEqual([401]);
      await presage.stop();
    }
  });
});
