import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { chatBody, completionExcerpt, expectedMessages, predictBody } from "./payload.ts";
import {
  answersAt,
  bun,
  findFreePort,
  type ProcessGroup,
  portkeyPackageDirectory,
  programFile,
  rootDirectory,
  workDirectory,
} from "./processes.ts";
import type { Upstream } from "./upstream.ts";

/** In the order of the tables. */
export const targetNames = ["direct", "nginx", "bun", "portkey", "presage"] as const;
export type TargetName = (typeof targetNames)[number];

export const targetTitles: Readonly<Record<TargetName, string>> = {
  direct: "the upstream itself",
  nginx: "nginx",
  bun: "a bare Bun proxy",
  portkey: "Portkey",
  presage: "**Presage**",
};

/** The same prediction in the form that this target accepts. */
export interface LoadRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where a target starts: in its own directory, so that a second start finds the files of the first. */
export interface Place {
  readonly port: number;
  readonly upstreamOrigin: string;
  readonly directory: string;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly readyUrl: string;
  readonly request: LoadRequest;
}

export type StartedName = Exclude<TargetName, "direct">;

export interface StartedTarget {
  readonly process: Subprocess;
  readonly request: LoadRequest;
  readonly readyAfterMs: number;
}

const readyTimeoutMs = 60_000;
const pollEveryMs = 2;

/** Starts the target and waits until it is ready. */
export const startTarget = async (
  group: ProcessGroup,
  name: StartedName,
  upstreamOrigin: string,
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<StartedTarget> => {
  const launch = await prepareLaunch[name](await placeFor(upstreamOrigin, directory));
  return await start(group, name, { ...launch, env: { ...launch.env, ...environment } }, directory);
};

export const placeFor = async (upstreamOrigin: string, directory: string): Promise<Place> => {
  mkdirSync(directory, { recursive: true });
  return { port: await findFreePort(), upstreamOrigin, directory };
};

export const start = async (
  group: ProcessGroup,
  name: string,
  { argv, env = {}, readyUrl, request }: Launch,
  directory: string,
): Promise<StartedTarget> => {
  const logFile = join(directory, "output.log");
  const startedAtMs = performance.now();
  const process = group.startServer({ argv, logFile, env });
  while (!(await answersAt(readyUrl))) {
    if (process.exitCode !== null || performance.now() - startedAtMs > readyTimeoutMs) {
      throw new Error(`${name} did not start:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
    }
    await Bun.sleep(pollEveryMs);
  }
  return { process, request, readyAfterMs: performance.now() - startedAtMs };
};

export interface RunningPresage {
  readonly process: Subprocess;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly predict: LoadRequest;
  /** The directory of its log, and of the SQLite file unless it uses another database. */
  readonly directory: string;
}

/** Uses the directory of this name, which a second start finds again. */
export const startPresage = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  name: string,
  databaseUrl?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<RunningPresage> => {
  const directory = join(workDirectory, name);
  const { process, request } = await startTarget(group, "presage", upstreamOrigin, directory, {
    ...(databaseUrl === undefined ? {} : { PRESAGE_DATABASE_URL: databaseUrl }),
    ...more,
  });
  const { origin } = new URL(request.url);
  return { process, origin, headers: request.headers, predict: request, directory };
};

export const sqliteFile = (directory: string): string => join(directory, "presage.db");

/** The composed prompt, as a client would send it without Presage. */
export const chatRequest = (origin: string, headers: Readonly<Record<string, string>> = {}): LoadRequest => ({
  url: `${origin}/v1/chat/completions`,
  headers: { "content-type": "application/json", authorization: "Bearer bench", ...headers },
  body: chatBody,
});

const prepareBareProxy = async ({ port, upstreamOrigin }: Place): Promise<Launch> => {
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [bun, programFile("bare-proxy.ts")],
    // By default, Bun sends at most 256 requests at once. The variable must be set before Bun starts.
    env: { PORT: String(port), UPSTREAM_ORIGIN: upstreamOrigin, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
    readyUrl: `${origin}/ready`,
    request: chatRequest(origin),
  };
};

// One worker, because Presage is one process. The access log is on, because Presage logs each request too.
// Connections are kept alive on both sides without a request limit, and the upstream pool covers the largest load.
const configFor = ({ port, upstreamOrigin, directory }: Place): string => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 12000;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${join(directory, "nginx.pid")};
error_log stderr warn;
events { worker_connections 12000; }
http {
  access_log ${join(directory, "access.log")} combined;
  client_body_temp_path ${join(directory, "body")};
  proxy_temp_path ${join(directory, "proxy")};
  fastcgi_temp_path ${join(directory, "fastcgi")};
  uwsgi_temp_path ${join(directory, "uwsgi")};
  scgi_temp_path ${join(directory, "scgi")};
  keepalive_requests 100000000;
  upstream mock {
    server ${new URL(upstreamOrigin).host};
    keepalive 6000;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_read_timeout 120s;
    }
  }
}
`;

const prepareNginx = async (place: Place): Promise<Launch> => {
  const configFile = join(place.directory, "nginx.conf");
  await Bun.write(configFile, configFor(place));
  const origin = `http://127.0.0.1:${place.port}`;
  return {
    argv: ["nginx", "-p", place.directory, "-c", configFile, "-e", "stderr"],
    readyUrl: `${origin}/v1/models`,
    request: chatRequest(origin),
  };
};

/** Headless and in production mode: without its page of live logs, which costs extra for each request. */
const preparePortkey = async ({ port, upstreamOrigin }: Place): Promise<Launch> => {
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [
      "node",
      "--import",
      programFile("portkey-loopback.mjs"),
      join(portkeyPackageDirectory, "build", "start-server.js"),
      `--port=${port}`,
      "--headless",
    ],
    env: { NODE_ENV: "production" },
    readyUrl: `${origin}/`,
    request: chatRequest(origin, {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstreamOrigin}/v1`,
    }),
  };
};

const bundleFile = join(rootDirectory, "packages", "server", "build", "build-bundle.ts");
const apiKey = "bench-key-that-is-only-good-on-loopback-0001";

/** As in production: with key checks, a rate limit (too high to be reached), metrics and logs. */
const preparePresage = async ({ port, upstreamOrigin, directory }: Place): Promise<Launch> => {
  const origin = `http://127.0.0.1:${port}`;
  return {
    argv: [bun, await bundledServer(), "serve"],
    env: {
      PRESAGE_HOST: "127.0.0.1",
      PRESAGE_PORT: String(port),
      PRESAGE_DATABASE_URL: `sqlite:${sqliteFile(directory)}`,
      PRESAGE_UPSTREAM_URL: `${upstreamOrigin}/v1`,
      PRESAGE_UPSTREAM_MODEL: "mock",
      PRESAGE_BOOTSTRAP_KEY: apiKey,
      PRESAGE_RATE_LIMIT_RPM: "100000000",
      PRESAGE_LOG_LEVEL: "info",
    },
    readyUrl: `${origin}/ready`,
    request: {
      url: `${origin}/v1/predict`,
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: predictBody,
    },
  };
};

let bundled: Promise<string> | undefined;

/** The server as `npm start` runs it, bundled once. */
const bundledServer = (): Promise<string> => {
  bundled ??= bundleServer();
  return bundled;
};
const bundleServer = async (): Promise<string> => {
  const build = Bun.spawn([bun, bundleFile], { stdout: "pipe", stderr: "inherit" });
  const path = await new Response(build.stdout).text();
  if ((await build.exited) !== 0) throw new Error("The server could not be bundled; nothing to measure");
  return path;
};

/** Writes the target's configuration and returns how to start it. */
export const prepareLaunch: Readonly<Record<StartedName, (place: Place) => Promise<Launch>>> = {
  nginx: prepareNginx,
  bun: prepareBareProxy,
  portkey: preparePortkey,
  presage: preparePresage,
};

/** Sends one request: every target must send the same prompt to the upstream and return its response. */
export const verifyTarget = async (name: string, request: LoadRequest, upstream: Upstream): Promise<void> => {
  await upstream.set(0, true);
  const { url, headers, body } = request;
  const response = await fetch(url, { method: "POST", headers, body, keepalive: false });
  const text = await response.text();
  if (response.status !== 200 || !text.includes(completionExcerpt)) {
    throw new Error(`${name} answered ${response.status}: ${text.slice(0, 500)}`);
  }
  const { lastBody } = await upstream.read();
  const { messages } = JSON.parse(lastBody) as { messages?: unknown };
  if (JSON.stringify(messages) !== expectedMessages) {
    throw new Error(`${name} sent a different prompt to the upstream: ${lastBody.slice(0, 500)}`);
  }
};
