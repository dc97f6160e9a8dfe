import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { createDiscovery, explainDiscoveryError } from "../accounts/openid.ts";
import { composePrices, readDeploymentSettings } from "../app/compose-deployments.ts";
import { upstreamOfJudges } from "../app/compose-evaluation.ts";
import { readRealEnvironments } from "../app/compose-reality.ts";
import { type Config, ConfigError, readConfig, unknownVariables } from "../config/config.ts";
import type { RawEnvironment } from "../config/values.ts";
import { UpstreamError } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { reasonOf } from "../platform/observability/logger.ts";
import { maxSkewMs, type SeenClock } from "../platform/storage/clock.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { type InspectedDatabase, inspectDatabase } from "../platform/storage/open.ts";
import { isInMemory, isSqlite, sqlitePath } from "../platform/storage/sqlite/sqlite.ts";
import { countOf, defined, printable, printableJson } from "../platform/words.ts";
import {
  placeholdersOf,
  RealEnvironmentError,
  type RealEnvironmentSettings,
} from "../reality/real/real-environment.ts";
import { createRealEnvironments } from "../reality/real/real-environments.ts";
import { createUpstream, type UpstreamOptions } from "../upstream/create-upstream.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import { NoResponseError } from "../upstream/send.ts";
import { examples, json } from "./command.ts";
import { megabytes } from "./database.ts";
import { readSeconds } from "./run-options.ts";

export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("check everything that the server needs")
    .option("--timeout <seconds>", "how long to wait for each model server; a check waits twice as long", "5")
    .option(...json)
    .addHelpText(...examples("presage doctor", "presage doctor --json", "presage doctor --timeout 60"))
    .action(async ({ timeout, ...options }) => {
      const answerMs = readSeconds(timeout) * 1000;
      process.exitCode = await doctor(process.env, { ...options, answerMs });
    });
}

/** What a check found. */
interface Finding {
  check:
    | "versions"
    | "configuration"
    | "database"
    | "clock"
    | "disk"
    | "upstream"
    | "real"
    | "judge"
    | "provider"
    | "redis";
  /** `off`: not configured, so there is nothing to check. */
  state: "good" | "bad" | "off";
  /** Never contains a secret. */
  text: string;
}

/** Prints what is good, and what to do about the rest. Returns the exit code. Changes nothing. */
async function doctor(raw: RawEnvironment, { json = false, answerMs }: { json?: boolean; answerMs: number }) {
  const findings = [versions(), ...(await examine(raw, answerMs))];
  for (const { check, state, text } of findings) {
    process.stdout.write(
      json
        ? `${printableJson({ check, state, text })}\n`
        : `${state.padEnd(5)} ${check.padEnd(14)} ${printable(text)}\n`,
    );
  }
  return findings.some(({ state }) => state === "bad") ? 1 : 0;
}

async function examine(raw: RawEnvironment, answerMs: number): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(raw);
    await composePrices(config, { info() {}, error() {} });
  } catch (error) {
    return wrongSettings("configuration", error);
  }
  const checkMs = 2 * answerMs;
  const checked = await Promise.all([
    inTime("database", checkDatabase(config), checkMs),
    inTime("upstream", checkUpstreams(config, answerMs), checkMs),
    inTime("judge", checkJudge(config, answerMs), checkMs),
    inTime("real", checkRealEnvironments(config, answerMs), checkMs),
    inTime("provider", checkProvider(config), checkMs),
    inTime("redis", checkRedis(config), checkMs),
  ]);
  return [...configuration(raw), ...checked.flat()];
}

/** What is wrong with the configuration, one setting each. */
function wrongSettings(check: Finding["check"], error: unknown): Finding[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.message.split("\n").map((text) => ({ check, state: "bad", text }));
}

/** The finding of a check, or that there was no answer in time. */
async function inTime(check: Finding["check"], finding: Promise<Finding | Finding[]>, timeoutMs: number) {
  const late = Promise.withResolvers<Finding[]>();
  const text = `no answer within ${timeoutMs / 1000} s; look at the network between this machine and that one`;
  const timer = setTimeout(() => late.resolve([{ check, state: "bad", text }]), timeoutMs);
  try {
    return await Promise.race([finding.then((found) => [found].flat()), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function versions(): Finding {
  const { platform, arch } = process;
  const text = `Presage ${packageJson.version}, Bun ${Bun.version}, ${platform}-${arch}`;
  return { check: "versions", state: "good", text };
}

function configuration(raw: RawEnvironment): Finding[] {
  const unknown = unknownVariables(raw);
  if (unknown.length === 0)
    return [{ check: "configuration", state: "good", text: "every variable is valid" }];
  return unknown.map((name) => ({
    check: "configuration",
    state: "bad",
    text: `${name} is unknown and has no effect. Unset it, or correct its name`,
  }));
}

/** The database, its clock, and the disk that an SQLite file is on. */
async function checkDatabase({ databaseUrl: url, minFreeDiskBytes }: Config): Promise<Finding[]> {
  const disk = checkDisk(url, minFreeDiskBytes);
  try {
    const inspected = await inspectDatabase(url);
    return [describe(inspected, url), describeClock(inspected.aheadMs, inspected.seenClock), disk];
  } catch (error) {
    // PostgreSQL's own errors name the user, but no password.
    const { reason: stated, code } = reasonOf(error);
    const reason = (stated || code || "no response").replace(/\.$/, "");
    const advice = isSqlite(url)
      ? "Check the file and its folder, whose owner must be the server's user"
      : "Check PRESAGE_DATABASE_URL, that PostgreSQL runs, and the user's rights";
    const clock: Finding = { check: "clock", state: "off", text: "the database was not read" };
    return [{ check: "database", state: "bad", text: `${reason}. ${advice}` }, clock, disk];
  }
}

function describe(inspected: InspectedDatabase, url: string): Finding {
  const { engine, schema, pending, isTooOld, unknown, mayRun } = inspected;
  if (isTooOld) {
    const text = `${engine}: its schema is from before 0.1.0 (${schema}). Start Presage 0.1.0 once, then this version`;
    return { check: "database", state: "bad", text };
  }
  const good = (text: string): Finding => ({ check: "database", state: "good", text: `${engine}: ${text}` });
  const newer = `its schema is newer than this Presage (${unknown.join(", ")})`;
  if (unknown.length > 0 && mayRun)
    return good(`writable, ${newer} and lets it run: what only the newer version knows is not shown`);
  if (unknown.length > 0) {
    const text = `${engine}: ${newer}. Run the version that made it, or a later one`;
    return { check: "database", state: "bad", text };
  }
  if (isInMemory(url)) return good("in memory; everything is lost when the server stops");
  if (schema === undefined) {
    const problem = isSqlite(url) ? unwritable(folderOf(url)) : undefined;
    return problem === undefined
      ? good("empty; the server's first start creates the schema")
      : { check: "database", state: "bad", text: problem };
  }
  const waiting =
    pending === 0 ? "up to date" : `the server's next start applies ${countOf(pending, "newer migration")}`;
  return good(`writable, schema ${schema}, ${waiting}`);
}

/** Explains how far the database's clock is ahead of this machine's (undefined if it has none), and that it jumped. */
export function describeClock(aheadMs: number | undefined, seen?: SeenClock): Finding {
  if (seen?.jumped !== undefined) {
    const [from, to] = [toIsoInstant(seen.believed), toIsoInstant(seen.jumped.seen)];
    const advice = "Correct it if it is wrong. If not, what is too old is deleted after 24 h of running";
    const text = `it jumped from ${from} to ${to} since a server last ran. ${advice}`;
    return { check: "clock", state: "bad", text };
  }
  if (aheadMs === undefined)
    return { check: "clock", state: "off", text: "SQLite uses this machine's clock" };
  const difference = `${(Math.abs(aheadMs) / 1000).toFixed(2)} s`;
  const text = `this machine's and the database's differ by ${difference}`;
  if (Math.abs(aheadMs) <= maxSkewMs) return { check: "clock", state: "good", text };
  return { check: "clock", state: "bad", text: `${text}. Correct the wrong one; a server does not start` };
}

function checkDisk(url: string, minFreeBytes: number): Finding {
  const check = "disk";
  if (!isSqlite(url) || isInMemory(url))
    return { check, state: "off", text: "the data is not on this machine's disk" };
  const folder = folderOf(url);
  const { bavail, bsize } = statfsSync(folder);
  const text = `${megabytes(bavail * bsize)} free at ${folder}`;
  if (bavail * bsize >= minFreeBytes) return { check, state: "good", text };
  const advice = `Until ${megabytes(minFreeBytes)} are free (PRESAGE_MIN_FREE_DISK_BYTES), uploads and runs only have the room that deleted rows left in the file`;
  return { check, state: "bad", text: `${text}. ${advice}` };
}

/** The folder of the file, or its nearest ancestor that exists. */
function folderOf(url: string): string {
  let folder = dirname(resolve(isInMemory(url) ? "." : sqlitePath(url)));
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function unwritable(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return `${folder} cannot be written. Make this user its owner, or set PRESAGE_DATABASE_URL`;
  }
}

/** The OpenID provider that users sign in with. */
async function checkProvider({ identity: { oidc } }: Config): Promise<Finding> {
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
async function checkRedis({ redisUrl }: Config): Promise<Finding> {
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

const common = { retries: 0, keepAlive: false };

/** Asks every replica of every deployment for its models. */
async function checkUpstreams(config: Config, timeoutMs: number): Promise<Finding[]> {
  if (config.deployments === undefined && config.upstream.urls === undefined) {
    const text = "PRESAGE_UPSTREAM_URL is not set: the built-in sandbox predicts";
    return [{ check: "upstream", state: "off", text }];
  }
  try {
    const { deployments } = await readDeploymentSettings(config);
    const found = await Promise.all(
      deployments.map(({ name, urls, apiKey, model }) =>
        askEach("upstream", { ...common, timeoutMs, name, urls, apiKey, model }),
      ),
    );
    return found.flat();
  } catch (error) {
    return wrongSettings("upstream", error);
  }
}

/** Resets every real environment once. */
async function checkRealEnvironments(config: Config, timeoutMs: number): Promise<Finding[]> {
  const check = "real";
  if (config.realEnvironments === undefined)
    return [{ check, state: "off", text: "PRESAGE_REAL_ENVIRONMENTS is not set: there are none" }];
  try {
    const settings = await readRealEnvironments(config);
    return await Promise.all(settings.map((one) => resetOnce(one, timeoutMs)));
  } catch (error) {
    return wrongSettings(check, error);
  }
}

async function resetOnce(given: RealEnvironmentSettings, timeoutMs: number): Promise<Finding> {
  const { name, reset } = given;
  const check = "real";
  if (placeholdersOf(reset).length > 0)
    return { check, state: "off", text: `${name}: not tried, as its reset needs a task` };
  const settings = { ...given, timeoutMs: Math.min(given.timeoutMs, timeoutMs) };
  const [environment] = createRealEnvironments([settings], () => Promise.resolve(false)).all();
  try {
    const session = await environment?.open({ initial_state: "" }, neverAborted);
    await session?.close();
    return { check, state: "good", text: `${name} begins an episode` };
  } catch (error) {
    if (!(error instanceof RealEnvironmentError)) throw error;
    return { check, state: "bad", text: `${name}: ${error.message} Check its address and its server's log` };
  }
}

/** The model that judges ask, if it is not the upstream. */
async function checkJudge(config: Config, timeoutMs: number): Promise<Finding[]> {
  const own = upstreamOfJudges(config);
  if (own !== undefined) return await askEach("judge", { ...own, ...common, timeoutMs });
  const isNone = config.deployments === undefined && config.upstream.urls === undefined;
  const text = isNone
    ? "no model: judges cannot be used. Set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL for them"
    : "judges ask the upstream";
  return [{ check: "judge", state: "off", text }];
}

async function askEach(check: Finding["check"], options: UpstreamOptions): Promise<Finding[]> {
  return await Promise.all(
    options.urls.map(async (url) => await ask(check, { ...options, ...defined({ urls: [url] }) })),
  );
}

async function ask(check: Finding["check"], options: UpstreamOptions): Promise<Finding> {
  const [url = ""] = options.urls;
  const place = `${options.name} at ${replicaAddress(url)}`;
  try {
    const { models } = await createUpstream(options).listModels(neverAborted);
    const ids = models.map(({ id }) => id);
    const { model = ids[0] } = options;
    if (model === undefined) return { check, state: "bad", text: `${place} lists no model. Load one there` };
    if (ids.includes(model)) return { check, state: "good", text: `${place} serves ${model}` };
    const text = `${place} does not list ${model}. Its models are ${ids.slice(0, 5).join(", ")}`;
    return { check, state: "bad", text };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // The response may repeat the key.
    const status = error.status === undefined ? "" : ` (status ${error.status})`;
    return { check, state: "bad", text: `${place}: ${adviceFor(error, options.timeoutMs)}${status}` };
  }
}

function adviceFor(error: UpstreamError, timeoutMs: number): string {
  const { category, status } = error;
  if (status === 401 || status === 403) return "it refuses the API key. Correct it";
  if (status === 404)
    return "it has no list of models at this address, which usually ends in /v1. Correct it";
  if (category === "timeout") return `no answer within ${timeoutMs / 1000} s. Is it still loading its model?`;
  if (error instanceof NoResponseError) return adviceToReach(error);
  if (category === "unavailable" && status === undefined) return "its response broke off. Look at its log";
  return "it does not answer as a chat-completions server. Look at its log";
}

function adviceToReach({ reason, code }: NoResponseError): string {
  if (reason === "certificate")
    return `its certificate is not accepted (${code}). Set NODE_EXTRA_CA_CERTS to your own CA, or correct the certificate`;
  if (reason === "tls") return "it does not speak TLS at this address. Correct it, or begin it with http:";
  if (reason === "name") return "its name is not known here. Correct the address";
  return "it cannot be reached. Start it, or correct the address";
}
