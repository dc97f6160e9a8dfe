import "./quiet-openid-provider.ts";
import { createServer } from "node:http";
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from "jose";
import Provider, { type Configuration, type JWK } from "oidc-provider";
import { freePort } from "../free-port.ts";

const clientId = "presage-of-the-tests";
const clientSecret = "client-secret-Hd6t4Ny7-0123456789";

/** A person's claims besides the subject. */
export type Person = Record<string, string | boolean>;

/** A real OpenID provider, which returns names and e-mail addresses as user info only. Browsers sign in as `subject` without a form. */
export interface TestOpenidProvider {
  issuer: string;
  /** Presage's configuration for it. */
  environment: Record<string, string>;
  people: Map<string, Person>;
  /** The person who signs in from now on; undefined for someone who gives up. */
  subject: string | undefined;
  /** How often someone had to sign in. */
  logins: number;
  /** Changes the claims of the ID tokens from now on, before they are signed. */
  alterIdToken: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** Whether ID tokens are signed by a foreign key. */
  isForging: boolean;
  start(): Promise<void>;
  /** Stops it: nothing listens at its address until it is started again. */
  stop(): Promise<void>;
}

/** The keys of a provider and of a forger, made once: providers differ by their issuer. */
let keys: Promise<[GenerateKeyPairResult, GenerateKeyPairResult]> | undefined;

/** Starts a provider that redirects browsers to the Presages at these addresses. */
export async function startOpenidProvider(presageUrls: string[]): Promise<TestOpenidProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  keys ??= Promise.all([generateKeyPair("RS256", { extractable: true }), generateKeyPair("RS256")]);
  const [{ privateKey }, forger] = await keys;
  const key: JWK = {
    ...((await exportJWK(privateKey)) as JWK),
    kid: "of-the-tests",
    alg: "RS256",
    use: "sig",
  };

  const configuration: Configuration = {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: presageUrls.map((url) => `${url}/auth/callback`),
        post_logout_redirect_uris: presageUrls.map((url) => `${url}/sign-in?signed_out`),
      },
    ],
    jwks: { keys: [key] },
    claims: { openid: ["sub", "team"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 300, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
    pkce: { required: () => true },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    async findAccount(_ctx, subject) {
      return { accountId: subject, claims: async () => ({ sub: subject, ...provider.people.get(subject) }) };
    },
    async loadExistingGrant({ oidc }) {
      const known = oidc.session?.grantIdFor(clientId);
      if (known !== undefined) return await oidc.provider.Grant.find(known);
      const grant = new oidc.provider.Grant({
        clientId,
        ...(oidc.session?.accountId === undefined ? {} : { accountId: oidc.session.accountId }),
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  };

  const openid = new Provider(issuer, configuration);
  openid.on("server_error", () => {});
  openid.use(async (ctx, next) => {
    if (ctx.path.startsWith("/interaction/")) {
      ctx.respond = false;
      const { subject } = provider;
      const result =
        subject === undefined
          ? { error: "access_denied" }
          : { login: { accountId: subject, remember: false } };
      if (subject !== undefined) provider.logins += 1;
      await openid.interactionFinished(ctx.req, ctx.res, result);
      return;
    }
    await next();
    const { alterIdToken = (claims) => claims, isForging } = provider;
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== "/token" || body?.id_token === undefined) return;
    const signingKey = isForging ? forger.privateKey : privateKey;
    ctx.body = { ...body, id_token: await resign(body.id_token, alterIdToken, signingKey) };
  });

  let server = createServer(openid.callback());
  const provider: TestOpenidProvider = {
    issuer,
    environment: {
      PRESAGE_OIDC_ISSUER: issuer,
      PRESAGE_OIDC_CLIENT_ID: clientId,
      PRESAGE_OIDC_CLIENT_SECRET: clientSecret,
      PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
    },
    people: new Map([
      ["ada", { name: "Ada", email: "ada@example.org", email_verified: true, team: "analysts" }],
    ]),
    subject: "ada",
    logins: 0,
    alterIdToken: undefined,
    isForging: false,
    async start() {
      server = createServer(openid.callback());
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await provider.start();
  return provider;
}

async function resign(
  idToken: string,
  alter: (claims: JWTPayload) => JWTPayload,
  privateKey: CryptoKey,
): Promise<string> {
  const claims = JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()) as JWTPayload;
  return await new SignJWT(alter(claims))
    .setProtectedHeader({ alg: "RS256", kid: "of-the-tests" })
    .sign(privateKey);
}
