// `npm run check:delivery`: starts Presage from nothing in each form that it is delivered in, and prints the time from the command to
// the first prediction. The image's file system needs root and Linux: there may be no container engine, so it is entered by chroot.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bun, root } from "./ensure-installed.mjs";
import { imageRoot } from "./image-root.mjs";
import { runOrExit } from "./run-or-exit.mjs";

const key = "key-of-the-delivery-check-0123456789";
const patienceMs = 120_000;
const dist = join(root, "dist");
const work = mkdtempSync(join(tmpdir(), "presage-delivery-"));

try {
  runOrExit("npm", ["run", "--silent", "build:package"]);
  runOrExit("npm", ["run", "--silent", "build:executable"]);
  expectElf(join(dist, "presage-linux-arm64"), 0xb7);
  const archive = readdirSync(dist).find((name) => /^presage-server-.*\.tgz$/.test(name));

  const npx = folder("npx");
  cpSync(join(dist, archive), join(npx, archive));
  const emptyCache = { npm_config_cache: join(work, "npm-cache") };
  await measure("npx, nothing in npm's cache", ["npx", "--yes", `./${archive}`], npx, emptyCache);
  await measure("npx, the second time", ["npx", "--yes", `./${archive}`], npx, emptyCache);
  const noScripts = {
    npm_config_cache: join(work, "npm-cache-without-scripts"),
    npm_config_ignore_scripts: "true",
  };
  await measure("npx without install scripts, empty cache", ["npx", "--yes", `./${archive}`], npx, noScripts);

  const global = join(work, "global");
  runOrExit("npm", ["install", "--global", "--prefix", global, "--loglevel=error", join(dist, archive)]);
  await measure("installed with npm --global", [join(global, "bin", "presage")], folder("global-data"));

  if (process.platform === "linux") {
    const executable = join(dist, `presage-linux-${process.arch}`);
    await measure("executable", [executable], folder("executable"));
    if (process.getuid() !== 0)
      process.stdout.write("The image's file system was left out: it needs root.\n");
    else await checkImage(executable);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function folder(name) {
  const path = join(work, name);
  mkdirSync(path, { recursive: true });
  return path;
}

async function checkImage(executable) {
  const image = imageRoot(executable, folder("image"));
  process.stdout.write(
    `image: ${image.megabytes} MB compressed (executable and C library; the base's certificates and time zones add some)\n`,
  );
  await measure(
    "image's file system, read-only, by chroot",
    image.enter(["serve"]),
    work,
    image.environment,
    (port) => {
      const [command, ...args] = image.enter(["health"]);
      const env = { ...process.env, ...image.environment, PRESAGE_PORT: port };
      const { status, stderr } = spawnSync(command, args, { env, encoding: "utf8" });
      if (status !== 0) throw new Error(`The health check failed: ${stderr}`);
    },
  );
  const postgres = await startPostgres();
  try {
    await measure(
      "the same with nothing that can be written but /tmp, on PostgreSQL, as in a pod of the chart",
      image.enter(["serve"], { hasVolume: false }),
      work,
      { ...image.environment, PRESAGE_DATABASE_URL: postgres.url },
    );
  } finally {
    postgres.stop();
  }
}

/** Starts the PostgreSQL of the tests. */
function startPostgres() {
  const child = spawn(bun, [join(root, "packages/server/test/support/store/serve-postgres.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.on("exit", () => reject(new Error("PostgreSQL did not start.")));
    child.stdout.once("data", (line) => resolve({ url: String(line).trim(), stop: () => child.stdin.end() }));
  });
}

/** Starts a server, waits for the README's first prediction, and stops it. */
async function measure(name, [command, ...args], cwd, environment = {}, whileReady = () => {}) {
  const port = await freePort();
  const startedAtMs = performance.now();
  const server = spawn(command, args, {
    cwd,
    env: {
      ...process.env,
      npm_lifecycle_event: undefined,
      ...environment,
      PRESAGE_PORT: String(port),
      PRESAGE_BOOTSTRAP_KEY: key,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  server.stderr.on("data", (text) => {
    errors += text;
  });
  const exited = new Promise((resolve) => server.on("exit", resolve));
  try {
    for (;;) {
      const content = await predict(port).catch(() => undefined);
      if (content === "You open the fridge.") break;
      if (content !== undefined) throw new Error(`${name}: the prediction is ${content}`);
      if (server.exitCode !== null || performance.now() - startedAtMs > patienceMs)
        throw new Error(`${name} did not start:\n${errors}`);
      await sleep(20);
    }
    process.stdout.write(`${name}: ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s\n`);
    whileReady(port);
  } finally {
    server.kill("SIGTERM");
    await exited;
    // npx ends before the server does.
    while (await predict(port).catch(() => undefined)) await sleep(50);
  }
}

async function predict(port) {
  const response = await fetch(`http://127.0.0.1:${port}/v1/predict`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
    }),
  });
  return (await response.json()).response?.content;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Fails unless the file is a 64-bit ELF executable for this machine type. */
function expectElf(path, machine) {
  const header = Buffer.alloc(20);
  const descriptor = openSync(path, "r");
  readSync(descriptor, header);
  closeSync(descriptor);
  const isElf = header.readUInt32BE(0) === 0x7f454c46 && header[4] === 2;
  if (!isElf || header.readUInt16LE(18) !== machine) throw new Error(`${path} is not the expected program.`);
}
